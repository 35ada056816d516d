import type { Told } from '../engine/readers/wire.ts'
import type { GeneratedRequest } from './generated-requests.ts'

/** The responses to one generated request. Null: no response in time. */
export interface Comparison {
  readonly request: GeneratedRequest
  readonly engine: Told | null
  readonly gateway: Told | null
}

type Reason = (comparison: {
  readonly request: GeneratedRequest
  readonly engine: Told
  readonly gateway: Told
}) => boolean

/** The reasons for different responses. Each reason is listed in docs/deviations.md. */
const DOCUMENTED: Readonly<Record<string, Reason>> = {
  'a hazard': ({ gateway }) => codeOf(gateway) === 'GW_HAZARD',
  'an unknown method': ({ request, engine, gateway }) =>
    codeOf(gateway) === 'GW_METHOD_UNKNOWN' && request.method === 'QUERY' && NO_METHOD.has(engine.status),
  'a method that the path does not have': ({ request, engine, gateway }) =>
    gateway.status === 405 && (NO_METHOD.has(engine.status) || isWadl(request, engine)),
  'a body that is null': ({ request, engine, gateway }) =>
    codeOf(gateway) === 'GW_BAD_JSON' && request.body?.toString() === 'null' && engine.status >= 400,
  'a target that two parsers may read differently': ({ request, gateway }) =>
    codeOf(gateway) === 'GW_BAD_TARGET' && AMBIGUOUS.test(request.target),
  'the form of an engine for an unreadable body depends on its process': ({ engine, gateway }) =>
    (isText400(engine) && isReaderError(gateway)) || (isText400(gateway) && isReaderError(engine)),
  'the body is read before an unknown key or filter is found': ({ request, engine, gateway }) =>
    codeOf(gateway) === 'GW_INVALID_BODY' &&
    engine.status === 404 &&
    /^\/filter\/|\/key\//.test(request.target),
  'the media type is read before an unknown key is found': ({ request, engine, gateway }) =>
    gateway.status === 415 && engine.status === 404 && request.target.includes('/key/'),
  'a query string cannot express these members of a query': ({ request, gateway }) =>
    codeOf(gateway) === 'GW_ITEMS_NOT_EXACT' &&
    /"historic(?:Batch|DecisionInstance)Query"/.test(request.body?.toString() ?? ''),
  'a bare engine does not know the caller': ({ request, engine }) =>
    engine.status === 401 && request.target.startsWith('/authorization/check?'),
}

function isText400({ status, headers }: Told): boolean {
  return status === 400 && headers['content-type']?.startsWith('text/plain') === true
}

/** Returns whether a response is the other form: an error of the engine without a message, or that of the gateway. */
function isReaderError(told: Told): boolean {
  if (told.status !== 400 || typeOf(told) !== 'InvalidRequestException') return false
  const code = codeOf(told)
  return code === 'GW_INVALID_BODY' || code === 'GW_BAD_JSON' || told.bytes.includes('"message":""')
}

/** Matches an escaped slash, backslash, semicolon, percent sign or control character in a path. */
const AMBIGUOUS = /^[^?]*%(?:2f|5c|3b|25|[01][0-9a-f]|7f)/i

/** The engine looks up the key in a path before it finds that the path does not have the method. */
const NO_METHOD: ReadonlySet<number> = new Set([404, 405])

function isWadl({ method }: GeneratedRequest, { headers }: Told): boolean {
  return method === 'OPTIONS' && headers['content-type']?.includes('wadl') === true
}

/** Returns `equal`, the documented reason for the difference, or null if the difference is not documented. */
export function reasonOf({ request, engine, gateway }: Comparison): string | null {
  if (engine === null || gateway === null) return engine === gateway ? 'equal: no response in time' : null
  if (isEqual(engine, gateway)) return 'equal'
  return (
    Object.keys(DOCUMENTED).find((name) => DOCUMENTED[name]?.({ request, engine, gateway }) === true) ?? null
  )
}

function isEqual(engine: Told, gateway: Told): boolean {
  return engine.status === gateway.status && (engine.status < 400 || typeOf(engine) === typeOf(gateway))
}

/** Returns the type of an error in the engine's form. Null for a page, for a text or for no body. */
export function typeOf({ headers, bytes }: Told): string | null {
  if (headers['content-type']?.startsWith('application/json') !== true) return null
  try {
    const body: unknown = JSON.parse(bytes.toString())
    return String(Object(body)['type'])
  } catch {
    return null
  }
}

/** Returns the error code of the gateway, or null. */
export function codeOf({ headers }: Told): string | null {
  const code = headers['x-gateway-error']
  return typeof code === 'string' ? code : null
}
