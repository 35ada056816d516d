import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'

const BODILESS: ReadonlySet<string> = new Set(['GET', 'OPTIONS'])
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*((?:;.*)?)$`, 's')
/** A blank can match in only one place of the pattern. With two places, matching a long header would take extremely long. */
const PARAMETERS = new RegExp(`^(?:;\\s*(?:${TOKEN}\\s*=\\s*(?:${TOKEN}|"[^"\\\\]*")\\s*)?)*$`)
const WIDE = /^(?:utf-?(?:16|32)|ucs-?[24])/i
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/gi

/**
 * Checks by the headers alone whether the operation accepts the body: JSON in UTF-8 or a multipart form, never compressed.
 * If a request without a body names a type, the type must fit as well, as in the engine. The engine ignores a declared
 * charset and reads the bytes. `readJson` does the same and requires UTF-8. A charset whose units are not bytes can
 * therefore only be a mistake.
 * @throws GatewayError GW_UNSUPPORTED_MEDIA
 */
export function checkMedia(
  { method, media }: Pick<Operation, 'method' | 'media'>,
  headers: IncomingHttpHeaders,
): void {
  if (BODILESS.has(method) || media === 'none') return
  const type = headers['content-type'] ?? ''
  const isTaken = hasBody(headers) ? isPlain(headers) && fits(media, type) : fitsNoBody(media, type)
  if (!isTaken) throw new GatewayError('GW_UNSUPPORTED_MEDIA')
}

function fits(media: Operation['media'], type: string): boolean {
  return media === 'multipart' ? isMultipart(type) : isJson(type)
}

/** Returns whether the type fits an empty body. Its parameters are not checked, because they would not change how an empty body is read. */
function fitsNoBody(media: Operation['media'], type: string): boolean {
  return type === '' || fits(media, type) || (media === undefined && BEGINS_AS_JSON.test(type))
}

function isPlain({ 'content-encoding': coding = '' }: IncomingHttpHeaders): boolean {
  return /^\s*(?:identity)?\s*$/i.test(coding)
}

/** The body that is sent instead of an empty one. It is a single object, so that a stage can distinguish it from a received body. */
export const EMPTY_OBJECT = Buffer.from('{}')

/**
 * Returns the body that replaces an empty one: an empty object if the request names JSON as its type, otherwise null. The
 * engine has its own response to a request without a type.
 */
export function bodyForNone(
  { method, media }: Pick<Operation, 'method' | 'media'>,
  { 'content-type': type = '' }: IncomingHttpHeaders,
): Buffer | null {
  const takesJson = (method === 'POST' || method === 'PUT') && media === undefined
  return takesJson && BEGINS_AS_JSON.test(type) ? EMPTY_OBJECT : null
}

const BEGINS_AS_JSON = /^[ \t]*application\/json[ \t]*(?:;|$)/i

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function isJson(header: string): boolean {
  if (header === 'application/json') return true // the most common form
  const { type, parameters } = partsOf(header)
  const charsets = [...parameters.matchAll(CHARSET)].map(([, name = '']) => name)
  return type === 'application/json' && charsets.every((name) => name !== '' && !WIDE.test(name))
}

function isMultipart(header: string): boolean {
  return partsOf(header).type === 'multipart/form-data'
}

function partsOf(header: string): { readonly type: string | null; readonly parameters: string } {
  const [, type = '', parameters = ''] = TYPE.exec(header) ?? []
  return PARAMETERS.test(parameters)
    ? { type: type.toLowerCase(), parameters }
    : { type: null, parameters: '' }
}
