import type { RequestContext } from '../../pipeline/context.ts'
import { withMissingRows } from '../../pipeline/stage.ts'
import type { Answer } from '../../request/answer.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { rowsIn } from './read-rows.ts'

/**
 * Notes for the audit what was missing for the rows of an answer that would have been shorter. It goes out as it is: where
 * its rows cannot be told, or a look-up fails, the report names none.
 */
export async function reportMissingRows(
  context: RequestContext,
  template: string,
  { status, body }: Answer,
): Promise<void> {
  const { missingRows, reports } = context
  if (missingRows === null || reports === null || status !== 200) return
  try {
    const missing = await missingRows(template, rowsIn(jsonIn(body)))
    context.reports = reports.map((report) => withMissingRows(report, missing))
  } catch {
    // A report changes nothing.
  }
}
