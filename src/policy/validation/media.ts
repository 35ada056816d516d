import type { IncomingHttpHeaders } from 'node:http'
import { GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'

const BODILESS: ReadonlySet<string> = new Set(['GET', 'OPTIONS'])
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*((?:;.*)?)$`, 's')
/** Blanks have one place each: where they had two, a long header would take for ever. */
const PARAMETERS = new RegExp(`^(?:;\\s*(?:${TOKEN}\\s*=\\s*(?:${TOKEN}|"[^"\\\\]*")\\s*)?)*$`)
const WIDE = /^(?:utf-?(?:16|32)|ucs-?[24])/i
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/gi

/**
 * Which body an operation takes, by its headers alone: JSON in UTF-8 or a multipart form, never compressed. A type that is
 * named has to fit without a body, too, as at the engine. The engine passes over a declared charset and reads the bytes, and so does
 * `readJson`, for which they must be UTF-8: a charset of other units than bytes can only be a mistake.
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

/** What follows the type of an empty body is not looked at: whatever it says, there is nothing to read by it. */
function fitsNoBody(media: Operation['media'], type: string): boolean {
  return type === '' || fits(media, type) || (media === undefined && BEGINS_AS_JSON.test(type))
}

function isPlain({ 'content-encoding': coding = '' }: IncomingHttpHeaders): boolean {
  return /^\s*(?:identity)?\s*$/i.test(coding)
}

/** What is sent in the place of an empty body. It is one object, so that a stage can tell it from a body that came. */
export const EMPTY_OBJECT = Buffer.from('{}')

/** What an empty body stands for: an empty object where the request names JSON as its type; null: nothing. Without a type the engine has an answer of its own. */
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
  if (header === 'application/json') return true // as nearly everybody writes it
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
