import { boolean, list, object, string } from './jackson.ts'
import type { ValidationRule } from './engine-error.ts'
import { membersOf } from './engine-error.ts'
import { directionFinding, sortingFinding, sortMembers, type Sorts } from './sorting.ts'

/*
 * Queries that the engine reads from a body, although their lists accept only a query string. Before the gateway sends such
 * a query to the list, it must know whether the engine would have accepted the body.
 */

const batchSorts: Sorts = { by: ['batchId', 'startTime', 'endTime', 'tenantId'] }

export const historicBatchQuery = object({
  batchId: string,
  type: string,
  completed: boolean,
  tenantIdIn: list(string),
  withoutTenantId: boolean,
  ...sortMembers(batchSorts),
})

export const historicBatchRules: readonly ValidationRule[] = [sortedBy(batchSorts)]

export const decisionSorts: Sorts = { by: ['evaluationTime', 'tenantId'] }

export const historicDecisionInstanceRules: readonly ValidationRule[] = [sortedBy(decisionSorts)]

function sortedBy(sorts: Sorts): ValidationRule {
  return {
    find({ body }) {
      const query = membersOf(body)
      return sortingFinding(query, sorts) ?? directionFinding(query, sorts)
    },
  }
}
