import { operatorText, ownText, GatewayError } from '../../errors.ts'
import { CHAR, elementsAt, type TextRange, isSpace, membersAt } from '../../request/json-text.ts'

/** The parts of a query that a restriction may change. */
export interface EngineQuery {
  readonly method: string
  /** The path below the node's base, with the query string. */
  readonly path: string
  readonly body: Buffer | null
}

/** Rewrites a query to select the items that the caller may see. Returns null if the caller may see nothing of it. */
export type Narrow = (query: EngineQuery, parameters: ReadonlyMap<string, string>) => EngineQuery | null

/** Sets one member of a JSON body, or removes it if `value` is `undefined`. The other bytes stay as they are, so numbers keep their digits. */
export function spliceMember(body: Buffer | null, name: string, value: unknown): Buffer {
  const text = textOf(body)
  return Buffer.from(
    value === undefined ? without(text, name) : withMember(text, name, JSON.stringify(value)),
  )
}

/** Sets one member of a JSON body to a value that is JSON already, such as a part of a response. All bytes stay as they are. */
export function spliceJson(body: Buffer, name: string, json: Buffer): Buffer {
  return Buffer.from(withMember(textOf(body), name, json.toString('utf8')))
}

function withMember(text: string, name: string, json: string): string {
  const found = valueOf(text, name)
  return found === undefined
    ? withLast(text, text.lastIndexOf('}'), `${JSON.stringify(name)}: ${json}`)
    : text.slice(0, found.start) + json + text.slice(found.end)
}

/** Inserts JSON after the last member of an object, or the last element of an array. `closedAt` is the position of the closing bracket. */
function withLast(text: string, closedAt: number, json: string): string {
  let at = closedAt
  while (isSpace(text.charCodeAt(at - 1))) at -= 1
  const isEmpty = OPENING.has(text.charCodeAt(at - 1))
  return `${text.slice(0, at)}${isEmpty ? '' : ','}${json}${text.slice(at)}`
}

const OPENING: ReadonlySet<number> = new Set([CHAR.openingBrace, CHAR.openingBracket])

/** Returns the position of a member's value, or undefined if the object has no member of this name. */
function valueOf(text: string, name: string): TextRange | undefined {
  // In a text without escapes, a name that does not occur is not a member, so the text need not be parsed.
  if (!text.includes(name) && !text.includes('\\')) return undefined
  return membersAt(text, 0).find((one) => one.name === name)?.value
}

function without(text: string, name: string): string {
  const members = membersAt(text, 0)
  const index = members.findIndex((one) => one.name === name)
  const [before, found, after] = [members[index - 1], members[index], members[index + 1]]
  if (found === undefined) return text
  // The comma that separates the member from another is removed, too.
  const start = before?.end ?? found.start
  const end = before === undefined ? (after?.start ?? found.end) : found.end
  return text.slice(0, start) + text.slice(end)
}

/**
 * Adds an element to an array of a JSON body. Creates the array if it is missing.
 * @throws GatewayError GW_INVALID_BODY if the member is not an array: the engine would have refused it
 */
export function appendTo(body: Buffer | null, name: string, value: unknown): Buffer {
  const text = textOf(body)
  const array = valueOf(text, name)
  const json = JSON.stringify(value)
  if (array === undefined || text.startsWith('null', array.start))
    return Buffer.from(withMember(text, name, `[${json}]`))
  if (text[array.start] !== '[')
    throw new GatewayError('GW_INVALID_BODY', {
      message: operatorText`The request body does not match the operation: $.${ownText(name)}: is not a list`,
    })
  return Buffer.from(withLast(text, array.end - 1, json))
}

/** Returns the bytes of one member of a JSON body, or null if it is absent or null. */
export function memberBytes(body: Buffer, name: string): Buffer | null {
  const text = textOf(body)
  const value = valueOf(text, name)
  const given = value === undefined ? 'null' : text.slice(value.start, value.end)
  return given === 'null' ? null : Buffer.from(given)
}

/** Returns the bytes of each element of a body that is an array. */
export function elementsIn(body: Buffer): readonly Buffer[] {
  const text = textOf(body)
  return elementsAt(text, 0).map(({ start, end }) => Buffer.from(text.slice(start, end)))
}

/** Returns the new bytes of an element. */
type ElementEdit = (element: Buffer, index: number) => Buffer

/**
 * Changes each element of an array in a JSON body. The other bytes stay as they are. The body is parsed once, because
 * splicing it again for each element takes time quadratic in the number of elements. `name` is the member that contains the
 * array; null if the body itself is the array.
 */
export function spliceElements(body: Buffer, name: string | null, change: ElementEdit): Buffer {
  const text = textOf(body)
  const at = name === null ? 0 : valueOf(text, name)?.start
  const elements = at === undefined ? [] : elementsAt(text, at)
  const first = elements[0]?.start ?? text.length
  const parts: string[] = []
  let last = first
  for (const [index, { start, end }] of elements.entries()) {
    const changed = change(Buffer.from(text.slice(start, end)), index)
    parts.push(text.slice(last, start), changed.toString('utf8'))
    last = end
  }
  return Buffer.from(text.slice(0, first) + parts.join('') + text.slice(last))
}

/** Returns the text of a body without the byte order mark, which the engine accepts and JSON.parse does not. */
export function textOf(body: Buffer | null): string {
  return body === null || body.length === 0 ? '{}' : body.toString('utf8').replace(/^\uFEFF/, '')
}
