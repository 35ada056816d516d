import { type EngineRefusal, GatewayError, jsonRefusalOf } from '../../../errors.ts'
import type { CompiledCheck, Template } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'

/** What the audit log says where the caller gives no other reason. */
export const NO_SUCH_ENTITY = 'no such entity'

/** What the audit log says of what is there, and of a tenant that the caller is no member of. */
export const OF_OTHER_TENANT = "another tenant's"

/** The answer without rows. */
export const NO_ROWS: Template = (_context, reason = NO_SUCH_ENTITY) => jsonRefusalOf(200, [], reason)

/** The refusal as the engine shows it: openly, or as one of its other answers. */
export function mask(
  { denied, notFound }: Pick<CompiledCheck, 'denied' | 'notFound'>,
  forbidden: EngineRefusal,
  context: EvaluationContext,
): EngineRefusal | GatewayError {
  const { reason } = forbidden
  if (denied === 403) return forbidden
  if (denied === 'plain')
    return jsonRefusalOf(403, { type: 'InvalidRequestException', message: reason, code: null }, reason)
  if (denied === 'empty') return jsonRefusalOf(200, [], reason)
  if (denied !== 500) return answerOf(notFound, context, reason)
  const message = `org.camunda.bpm.engine.AuthorizationException: ${reason}`
  return jsonRefusalOf(500, { type: 'RestException', message, code: 0 }, reason)
}

/**
 * The engine's answer for an entity that does not exist, or a refusal of the gateway's own where the row does not say.
 * It is given here, never fetched: a request forwarded for an unknown id could meet an entity that came into being after
 * the look-up, or one that the look-up cannot see.
 */
export function answerOf(
  template: Template | null,
  context: EvaluationContext,
  reason?: string,
): EngineRefusal | GatewayError {
  return template === null ? new GatewayError('GW_CHECK_NOT_EXACT') : template(context, reason)
}
