import { bodyText } from '../../../request/body.ts'
import {
  type OperatorText,
  operatorText,
  type EngineRefusal,
  GatewayError,
  jsonRefusalOf,
} from '../../../errors.ts'
import type { CompiledCheck, Template } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'

/** The reason in the audit log if none is given. */
export const NO_SUCH_ENTITY = operatorText`no such entity`

/** The reason in the audit log for an existing entity of a tenant of which the caller is not a member. */
export const OF_OTHER_TENANT = operatorText`another tenant's`

/** The response without items. */
export const NO_ROWS: Template = (_context, reason = NO_SUCH_ENTITY) => jsonRefusalOf(200, [], reason)

/** Returns the refusal in the engine's form: as a 403, or as one of its other responses. */
export function mask(
  { denied, notFound }: Pick<CompiledCheck, 'denied' | 'notFound'>,
  forbidden: EngineRefusal,
  context: EvaluationContext,
): EngineRefusal | GatewayError {
  if (denied === 403) return forbidden
  const { reason } = forbidden
  const said = bodyText(forbidden.body, 'message') ?? ''
  if (denied === 'plain')
    return jsonRefusalOf(403, { type: 'InvalidRequestException', message: said, code: null }, reason)
  if (denied === 'empty') return jsonRefusalOf(200, [], reason)
  if (denied !== 500) return responseOf(notFound, context, reason)
  const message = `org.camunda.bpm.engine.AuthorizationException: ${said}`
  return jsonRefusalOf(500, { type: 'RestException', message, code: 0 }, reason)
}

/**
 * Returns the engine's response for an entity that does not exist, or a refusal of the gateway if the operation does not
 * define one. The gateway writes it and never fetches it: a request that is forwarded for an unknown id could reach an
 * entity that was created after the lookup, or one that the lookup cannot see.
 */
export function responseOf(
  template: Template | null,
  context: EvaluationContext,
  reason?: OperatorText,
): EngineRefusal | GatewayError {
  return template === null ? new GatewayError('GW_CHECK_NOT_EXACT') : template(context, reason)
}
