import type { RequestContext } from '../../pipeline/context.ts'
import { withMissingRows } from '../../pipeline/stage.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { rowsIn } from './read-rows.ts'

/**
 * Adds the missing permissions for the hidden items of a response to the report for the audit log. The response itself is not
 * changed. If its items cannot be read, or a lookup fails, the report names no permission.
 */
export async function reportMissingRows(
  context: RequestContext,
  template: string,
  { status, body }: BufferedResponse,
): Promise<void> {
  const { missingRows, reports } = context
  if (missingRows === null || reports === null || status !== 200) return
  try {
    const missing = await missingRows(template, rowsIn(jsonIn(body)))
    context.reports = reports.map((report) => withMissingRows(report, missing))
  } catch {
    // A report never affects the response.
  }
}
