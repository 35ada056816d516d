import { type RefusalText, type OperatorText, operatorText } from '../../../errors.ts'
import {
  type IsDateText,
  restFailure,
  firstOf,
  invalid,
  isGiven,
  itemsOf,
  DEFER,
  membersOf,
  engineException,
  type RuleResult,
  type Members,
  type RequestData,
  type ValidationRule,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { processInstanceQueryFinding } from './process-instance-query.ts'
import { variablesFinding } from './variable-value.ts'

/** The rules for the body from which a plan is generated. */
export const generationRules: readonly ValidationRule[] = [
  { find: ({ body }, { isDateText }) => generationFinding(membersOf(body), isDateText) },
]

/** The rules for a plan that is only validated. */
export const planRules: readonly ValidationRule[] = [
  { find: ({ body }, { isDateText }) => planFinding(body, isDateText) },
]

/**
 * The rules in the engine's order. The engine builds the plan, reads its two definitions (two checks), validates it and
 * collects the instances. The checks on the migration itself follow.
 */
export const migrationRules: readonly ValidationRule[] = [
  { find: (received, { isDateText }) => planFinding(planOf(received), isDateText) },
  { after: 'target definition', find: ({ body }) => instancesFinding(membersOf(body)) },
  {
    after: 'all checks',
    find: (received, { template }) =>
      template.endsWith('Async') ? transientFinding(planOf(received)) : null,
  },
]

function planOf({ body }: RequestData): unknown {
  return membersOf(body)['migrationPlan']
}

function planFinding(plan: unknown, isDate: IsDateText): RuleResult {
  if (!isObject(plan))
    return restFailure(
      'NullPointerException',
      operatorText`Cannot invoke "org.camunda.bpm.engine.rest.dto.migration.MigrationPlanDto.getSourceProcessDefinitionId()" because "migrationPlanDto" is null`,
    )
  return (
    variablesFinding(plan['variables'], isDate) ??
    firstOf(itemsOf(plan['instructions']), instructionFinding) ??
    definitionsFinding(plan)
  )
}

function generationFinding(members: Members, isDate: IsDateText): RuleResult {
  return variablesFinding(members['variables'], isDate) ?? definitionsFinding(members)
}

function definitionsFinding(members: Members): RuleResult {
  return (
    idFinding(operatorText`Source`, members['sourceProcessDefinitionId']) ??
    idFinding(operatorText`Target`, members['targetProcessDefinitionId'])
  )
}

/** Checks an instruction. The engine uses the first activity of each list. If a list is missing, its message contains names of its own classes. */
function instructionFinding(given: unknown): RuleResult {
  const { sourceActivityIds, targetActivityIds } = membersOf(given)
  return firstOf([sourceActivityIds, targetActivityIds], (ids) => {
    if (!Array.isArray(ids)) return DEFER
    return ids.length === 0
      ? restFailure('IndexOutOfBoundsException', operatorText`Index 0 out of bounds for length 0`)
      : null
  })
}

function idFinding(which: OperatorText, id: unknown): RuleResult {
  return isGiven(id) ? null : { ...invalid(operatorText`${which} process definition id is null`), code: 0 }
}

function instancesFinding({ processInstanceIds, processInstanceQuery: query }: Members): RuleResult {
  const ids = itemsOf(processInstanceIds)
  const finding = isObject(query) ? processInstanceQueryFinding(query) : null
  if (finding !== null) return finding
  // The instances that the query finds are not known here.
  if (ids.length === 0 && isObject(query)) return DEFER
  if (ids.length === 0)
    return badRequest(operatorText`Process instance ids cannot empty: process instance ids is empty`)
  return ids.includes(null)
    ? badRequest(operatorText`Process instance ids cannot be null: process instance ids contains null value`)
    : null
}

function transientFinding(plan: unknown): RuleResult {
  const names = Object.entries(membersOf(membersOf(plan)['variables']))
    .filter(([, value]) => isTransient(membersOf(value)))
    .map(([name]) => name)
  // It is not known which of several the engine names.
  if (names.length > 1) return DEFER
  return names.length === 0
    ? null
    : badRequest({
        caller: `ENGINE-13044 Setting transient variable '${names[0]}' asynchronously is currently not supported.`,
        operator: operatorText`a variable is transient`,
      })
}

function isTransient({ valueInfo }: Members): boolean {
  const { transient } = membersOf(valueInfo)
  return transient === true
}

function badRequest(message: RefusalText): RuleResult {
  return engineException(400, 'BadUserRequestException', message)
}
