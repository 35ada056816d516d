import { boolean, date, list, object, string } from './jackson.ts'
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

const decisionSorts: Sorts = { by: ['evaluationTime', 'tenantId'] }

export const historicDecisionInstanceQuery = object({
  decisionInstanceId: string,
  decisionInstanceIdIn: list(string),
  decisionDefinitionId: string,
  decisionDefinitionIdIn: list(string),
  decisionDefinitionKey: string,
  decisionDefinitionKeyIn: list(string),
  decisionDefinitionName: string,
  decisionDefinitionNameLike: string,
  decisionRequirementsDefinitionId: string,
  decisionRequirementsDefinitionKey: string,
  processDefinitionId: string,
  processDefinitionKey: string,
  processInstanceId: string,
  caseDefinitionId: string,
  caseDefinitionKey: string,
  caseInstanceId: string,
  activityIdIn: list(string),
  activityInstanceIdIn: list(string),
  evaluatedAfter: date,
  evaluatedBefore: date,
  userId: string,
  rootDecisionInstanceId: string,
  rootDecisionInstancesOnly: boolean,
  includeInputs: boolean,
  includeOutputs: boolean,
  disableBinaryFetching: boolean,
  disableCustomObjectDeserialization: boolean,
  tenantIdIn: list(string),
  withoutTenantId: boolean,
  ...sortMembers(decisionSorts),
})

export const historicDecisionInstanceRules: readonly ValidationRule[] = [sortedBy(decisionSorts)]

function sortedBy(sorts: Sorts): ValidationRule {
  return {
    find({ body }) {
      const query = membersOf(body)
      return sortingFinding(query, sorts) ?? directionFinding(query, sorts)
    },
  }
}
