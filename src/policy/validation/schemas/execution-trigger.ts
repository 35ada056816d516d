import { operatorText } from '../../../errors.ts'
import type { RuleResult, IsDateText, ValidationRule } from './engine-error.ts'
import { invalid, isGiven, membersOf, engineException } from './engine-error.ts'
import { isTrue } from '../../../request/java-text.ts'
import { prefixed, valueFinding, variablesFinding } from './variable-value.ts'

/* Rules for the bodies of signals, decisions and single variables. */

export const triggerRules: readonly ValidationRule[] = [
  {
    find: ({ body, params }, { isDateText }) =>
      prefixed(variablesOf(body, isDateText), `Cannot signal execution ${params['id']}: `),
  },
]

export const decisionRules: readonly ValidationRule[] = [
  { find: ({ body }, { isDateText }) => variablesOf(body, isDateText) },
]

export const signalRules: readonly ValidationRule[] = [
  { find: ({ body }, { isDateText }) => signalFinding(body, isDateText) },
]

export const variableRules: readonly ValidationRule[] = [
  {
    find: ({ body, params }, { isDateText }) =>
      prefixed(
        valueFinding(membersOf(body), isDateText),
        `Cannot put process instance variable ${params['varName']}: `,
      ),
  },
]

function signalFinding(body: unknown, isDate: IsDateText): RuleResult {
  const { name, executionId, tenantId, withoutTenantId } = membersOf(body)
  if (!isGiven(name)) return invalid(operatorText`No signal name given`)
  const finding = variablesOf(body, isDate)
  if (finding !== null) return finding
  const hasTenant = isGiven(tenantId) || isTrue(withoutTenantId)
  if (!isGiven(executionId) || !hasTenant) return null
  return engineException(
    400,
    'BadUserRequestException',
    operatorText`ENGINE-13027 Cannot specify a tenant-id when deliver a signal to a single execution.`,
  )
}

function variablesOf(body: unknown, isDate: IsDateText): RuleResult {
  return variablesFinding(membersOf(body)['variables'], isDate)
}
