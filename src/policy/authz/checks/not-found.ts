import { EngineVerdict, GatewayError } from '../../../errors.ts'
import type { Absent } from '../../../operations/notation.ts'
import type { Asked } from '../../../request/access-request.ts'
import { bodyFlag, bodyText } from '../../../request/access-request.ts'
import { referenceOf } from './permission-checks.ts'
import { type CompiledCheck, factsOf, type Ground } from './check.ts'
import { Known } from '../entities/loaded-entities.ts'
import { isLookup } from '../entities/lookup.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** The refusal as the engine shows it: openly, or as one of its other answers. */
export function disguise(
  check: CompiledCheck,
  forbidden: EngineVerdict,
  ground: Ground,
): EngineVerdict | GatewayError {
  const { reason } = forbidden
  if (check.denied === 403) return forbidden
  if (check.denied === 'plain')
    return verdictOf(403, { type: 'InvalidRequestException', message: reason, code: null }, reason)
  if (check.denied === 'empty') return verdictOf(200, [], reason)
  if (check.denied !== 500) return absentAnswer(check.absent, ground, reason)
  const message = `org.camunda.bpm.engine.AuthorizationException: ${reason}`
  return verdictOf(500, { type: 'RestException', message, code: 0 }, reason)
}

/**
 * The engine's answer for an entity that does not exist. It is given here, never fetched: a request forwarded for an
 * unknown id could meet an entity that came into being after the look-up, or one that the look-up cannot see.
 */
export function absentAnswer(
  absent: Absent | null,
  ground: Ground,
  reason = 'no such entity',
): EngineVerdict | GatewayError {
  if (absent === null) return new GatewayError('GW_CHECK_NOT_EXACT')
  if (absent === '200 []') return verdictOf(200, [], reason)
  if (absent === '204') return new EngineVerdict({ status: 204, reason })
  const [, status, type, code, text = ''] = /^(\d+) (\w+)( 0)?: (.*)$/s.exec(absent) ?? []
  const message = text.replace(/\{([\w.():?]+)\}/g, (_, name: string) => wordOf(name, ground))
  return verdictOf(Number(status), { type, message, code: code === undefined ? null : 0 }, reason)
}

/** The engine's answer to a query in the body that finds nothing. */
export function emptyAnswer(empty: Absent, asked: Asked): EngineVerdict | GatewayError {
  const ground = { asked, known: new Known(), each: null, created: null, impliesIdentity: false }
  return absentAnswer(empty, ground, 'nothing is selected')
}

function wordOf(name: string, ground: Ground): string {
  const { asked, created } = ground
  if (name === 'created') return created ?? ''
  const [, member, yes = '', no = ''] = /^(\w+)\?(\w+):(\w+)$/.exec(name) ?? []
  if (member !== undefined) return bodyFlag(asked.body, member) ? yes : no
  return asked.params[name] ?? bodyText(asked.body, name) ?? memberOf(name, ground) ?? 'null'
}

/** A member of an entity that was looked up, or of what a check runs over. */
function memberOf(name: string, ground: Ground): string | null {
  const [, of = '', member = ''] = /^(.+)\.(\w+)$/.exec(name) ?? []
  if (of === 'each') return ground.each?.[member] ?? null
  return of === '' || !isLookup(of.split('(', 1)[0] ?? '')
    ? null
    : (factsOf(referenceOf(of), ground)?.[member] ?? null)
}

function verdictOf(status: number, body: unknown, reason: string): EngineVerdict {
  return new EngineVerdict({ status, body, headers: JSON_TYPE, reason })
}
