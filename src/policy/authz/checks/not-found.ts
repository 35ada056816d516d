import { EngineRefusal, GatewayError } from '../../../errors.ts'
import type { NotFoundAnswer } from '../../../operations/notation.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { bodyFlag, bodyText } from '../../../request/body.ts'
import { referenceOf } from './permission-checks.ts'
import { attributesOf } from './references.ts'
import type { CompiledCheck } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { LoadedEntities } from '../entities/loaded-entities.ts'
import { isLookup } from '../entities/lookup-rules.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The refusal as the engine shows it: openly, or as one of its other answers. */
export function mask(
  check: CompiledCheck,
  forbidden: EngineRefusal,
  context: EvaluationContext,
): EngineRefusal | GatewayError {
  const { reason } = forbidden
  if (check.denied === 403) return forbidden
  if (check.denied === 'plain')
    return refusalOf(403, { type: 'InvalidRequestException', message: reason, code: null }, reason)
  if (check.denied === 'empty') return refusalOf(200, [], reason)
  if (check.denied !== 500) return notFoundAnswer(check.notFound, context, reason)
  const message = `org.camunda.bpm.engine.AuthorizationException: ${reason}`
  return refusalOf(500, { type: 'RestException', message, code: 0 }, reason)
}

/**
 * The engine's answer for an entity that does not exist. It is given here, never fetched: a request forwarded for an
 * unknown id could meet an entity that came into being after the look-up, or one that the look-up cannot see.
 */
export function notFoundAnswer(
  notFound: NotFoundAnswer | null,
  context: EvaluationContext,
  reason = 'no such entity',
): EngineRefusal | GatewayError {
  if (notFound === null) return new GatewayError('GW_CHECK_NOT_EXACT')
  if (notFound === '200 []') return refusalOf(200, [], reason)
  if (notFound === '204') return new EngineRefusal({ status: 204, reason })
  const [, status, type, code, text = ''] = /^(\d+) (\w+)( 0)?: (.*)$/s.exec(notFound) ?? []
  const message = text.replace(/\{([\w.():?]+)\}/g, (_, name: string) => wordOf(name, context))
  return refusalOf(Number(status), { type, message, code: code === undefined ? null : 0 }, reason)
}

/** The engine's answer to a query in the body that finds nothing. */
export function emptyAnswer(
  empty: NotFoundAnswer,
  accessRequest: AccessRequest,
): EngineRefusal | GatewayError {
  const context = {
    accessRequest,
    loaded: new LoadedEntities(),
    each: null,
    created: null,
    impliesIdentity: false,
  }
  return notFoundAnswer(empty, context, 'nothing is selected')
}

function wordOf(name: string, context: EvaluationContext): string {
  const { accessRequest, created } = context
  if (name === 'created') return created ?? ''
  const [, member, yes = '', no = ''] = /^(\w+)\?(\w+):(\w+)$/.exec(name) ?? []
  if (member !== undefined) return bodyFlag(accessRequest.body, member) ? yes : no
  return accessRequest.params[name] ?? bodyText(accessRequest.body, name) ?? memberOf(name, context) ?? 'null'
}

/** A member of an entity that was looked up, or of what a check runs over. */
function memberOf(name: string, context: EvaluationContext): string | null {
  const [, of = '', member = ''] = /^(.+)\.(\w+)$/.exec(name) ?? []
  if (of === 'each') return context.each?.[member] ?? null
  return of === '' || !isLookup(of.split('(', 1)[0] ?? '')
    ? null
    : (attributesOf(referenceOf(of), context)?.[member] ?? null)
}

function refusalOf(status: number, body: unknown, reason: string): EngineRefusal {
  return new EngineRefusal({ status, body, headers: JSON_TYPE, reason })
}
