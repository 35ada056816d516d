import { operatorText } from '../../../errors.ts'
import type { RuleResult, ValidationRule } from './engine-error.ts'
import { DEFER, invalid, isGiven, membersOf, valueText } from './engine-error.ts'

/** The engine reads the task, changes it and then saves it. The change is between the two permission checks. */
export const taskRules: readonly ValidationRule[] = [
  { after: 'read', find: ({ body }) => delegationFinding(membersOf(body)['delegationState']) },
]

/** Checks the delegation state of a task. The engine accepts two states, in upper or lower case. */
export function delegationFinding(state: unknown): RuleResult {
  if (!isGiven(state)) return null
  if (typeof state === 'number') return DEFER
  if (['PENDING', 'RESOLVED'].includes(valueText(state).toUpperCase())) return null
  return invalid({
    caller: `Valid values for property 'delegationState' are 'PENDING' or 'RESOLVED', but was '${valueText(state)}'`,
    operator: operatorText`delegationState is not 'PENDING' or 'RESOLVED'`,
  })
}
