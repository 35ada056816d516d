import { operatorText, type OperatorText } from '../../../errors.ts'
import { type EngineError, invalid, isGiven, membersOf, type ValidationRule } from './engine-error.ts'

/*
 * Rules for the bodies that suspend or activate several entities. The engine accepts one selector. It applies the rules before it looks
 * up an entity, so they also hold for ids that do not exist.
 */

/** Refuses a member that the path of a single entity replaces. */
function excluded(member: string, message: OperatorText): ValidationRule {
  return { find: ({ body }) => (isGiven(membersOf(body)[member]) ? invalid(message) : null) }
}

/** Refuses more than one of several members. */
function onlyOneOf(members: readonly string[], message: OperatorText): ValidationRule {
  return { find: ({ body }) => (countOf(body, members) > 1 ? invalid(message) : null) }
}

function countOf(body: unknown, members: readonly string[]): number {
  const given = membersOf(body)
  return members.filter((name) => isGiven(given[name])).length
}

export const jobSuspensionRules: readonly ValidationRule[] = [
  excluded(
    'jobId',
    operatorText`Either jobDefinitionId, processInstanceId, processDefinitionId or processDefinitionKey can be set to update the suspension state.`,
  ),
  onlyOneOf(
    ['jobDefinitionId', 'processInstanceId', 'processDefinitionId', 'processDefinitionKey'],
    operatorText`Only one of jobId, jobDefinitionId, processInstanceId, processDefinitionId or processDefinitionKey should be set to update the suspension state.`,
  ),
]

export const jobDefinitionSuspensionRules: readonly ValidationRule[] = [
  excluded(
    'jobDefinitionId',
    operatorText`Either processDefinitionId or processDefinitionKey can be set to update the suspension state.`,
  ),
  onlyOneOf(
    ['processDefinitionId', 'processDefinitionKey'],
    operatorText`Only one of jobDefinitionId, processDefinitionId or processDefinitionKey should be set to update the suspension state.`,
  ),
]

const GROUPS = ['processInstanceIds', 'processInstanceQuery', 'historicProcessInstanceQuery']
const DEFINITIONS = ['processDefinitionId', 'processDefinitionKey']

export const instanceSuspensionRules: readonly ValidationRule[] = [
  { find: ({ body }) => groupFinding(body) },
  onlyOneOf(
    DEFINITIONS,
    operatorText`Only one of processDefinitionId or processDefinitionKey should be set to update the suspension state.`,
  ),
]

function groupFinding(body: unknown): EngineError | null {
  return countOf(body, GROUPS) > 0 && countOf(body, DEFINITIONS) > 0
    ? invalid(
        operatorText`Choose either a single processInstance with processDefinitionId or processDefinitionKey or a group of processInstances with processInstanceIds, procesInstanceQuery or historicProcessInstanceQuery.`,
      )
    : null
}
