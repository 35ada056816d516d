import { operatorText } from '../../../errors.ts'
import { isTrue } from '../../../request/java-text.ts'
import {
  engineException,
  firstOf,
  invalid,
  type IsDateText,
  isGiven,
  membersOf,
  type RuleResult,
  type ValidationRule,
} from './engine-error.ts'
import { prefixed, variablesFinding } from './variable-value.ts'

/** Rules for a message that is correlated with executions and definitions. */
export const messageRules: readonly ValidationRule[] = [
  { find: ({ body }, { isDateText }) => messageFinding(body, isDateText) },
]

/** The members with variables, in the order in which the engine converts them. */
const VARIABLES = [
  'correlationKeys',
  'localCorrelationKeys',
  'processVariables',
  'processVariablesLocal',
  'processVariablesToTriggeredScope',
] as const

function messageFinding(body: unknown, isDate: IsDateText): RuleResult {
  const members = membersOf(body)
  const {
    messageName,
    processInstanceId,
    tenantId,
    withoutTenantId,
    resultEnabled,
    variablesInResultEnabled,
  } = members
  if (!isGiven(messageName)) return invalid(operatorText`No message name supplied`)
  if (isGiven(tenantId) && isTrue(withoutTenantId))
    return invalid(
      operatorText`Parameter 'tenantId' cannot be used together with parameter 'withoutTenantId'.`,
    )
  if (isTrue(variablesInResultEnabled) && !isTrue(resultEnabled))
    return invalid(
      operatorText`Parameter 'variablesInResultEnabled' cannot be used without 'resultEnabled' set to true.`,
    )
  const finding = firstOf(VARIABLES, (name) => variablesFinding(members[name], isDate))
  if (finding !== null) return prefixed(finding, 'Cannot deliver message: ')
  const hasTenant = isGiven(tenantId) || isTrue(withoutTenantId)
  if (!isGiven(processInstanceId) || !hasTenant) return null
  return engineException(
    400,
    'BadUserRequestException',
    operatorText`ENGINE-13028 Cannot specify a tenant-id when correlate a message to a single process instance.`,
  )
}
