import type { FindMissingItemPermissions } from '../../lists/item-decision.ts'
import type { Outcome } from '../../pipeline/context.ts'
import { withMissingPermissions } from '../../pipeline/stage.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { jsonIn } from '../../request/engine-request.ts'
import { listItemsIn } from './read-list-items.ts'

/**
 * Adds the missing permissions for the hidden items of a response to the report for the audit log. The response itself is not
 * changed. If its items cannot be read, or a lookup fails, the report names no permission.
 */
export async function reportMissingPermissions(
  outcome: Pick<Outcome, 'reports'>,
  template: string,
  { status, body }: BufferedResponse,
): Promise<void> {
  const findMissing = findMissingOf(outcome)
  if (findMissing === undefined || status !== 200) return
  try {
    const missing = await findMissing(template, listItemsIn(jsonIn(body)))
    outcome.reports = outcome.reports.map((report) => withMissingPermissions(report, missing))
  } catch {
    // A report never affects the response.
  }
}

/** Returns whether a report lacks the missing permissions for hidden items, which are found when the response is read. */
export function isReportIncomplete(outcome: Pick<Outcome, 'reports'>): boolean {
  return findMissingOf(outcome) !== undefined
}

function findMissingOf({ reports }: Pick<Outcome, 'reports'>): FindMissingItemPermissions | undefined {
  return reports.find((report) => report.findMissing !== undefined)?.findMissing
}
