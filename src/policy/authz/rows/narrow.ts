import { GatewayError } from '../../../errors.ts'
import { CHAR, elementsAt, type Extent, isSpace, membersAt } from '../../../request/json-text.ts'

/** A query on its way to the engine: what of it a restriction may change. */
export interface Query {
  readonly method: string
  /** Below the node's base, with the query string. */
  readonly path: string
  readonly body: Buffer | null
}

/** The query that asks for what the caller may see of it; null: there is nothing to ask for. */
export type Narrow = (query: Query, parameters: ReadonlyMap<string, string>) => Query | null

/** Changes one member of a JSON body; the other bytes stay as they are: numbers keep their digits. `undefined` removes it. */
export function spliceMember(body: Buffer | null, name: string, value: unknown): Buffer {
  const text = textOf(body)
  return Buffer.from(
    value === undefined ? without(text, name) : withMember(text, name, JSON.stringify(value)),
  )
}

function withMember(text: string, name: string, json: string): string {
  const found = valueOf(text, name)
  return found === undefined
    ? withLast(text, text.lastIndexOf('}'), `${JSON.stringify(name)}: ${json}`)
    : text.slice(0, found.start) + json + text.slice(found.end)
}

/** Puts something behind the last member of an object, or the last element of an array, that is closed there. */
function withLast(text: string, closedAt: number, json: string): string {
  let at = closedAt
  while (isSpace(text.charCodeAt(at - 1))) at -= 1
  const isEmpty = OPENING.has(text.charCodeAt(at - 1))
  return `${text.slice(0, at)}${isEmpty ? '' : ','}${json}${text.slice(at)}`
}

const OPENING: ReadonlySet<number> = new Set([CHAR.openingBrace, CHAR.openingBracket])

/** Where the value of an object's member stands; undefined: it has none of this name. */
function valueOf(text: string, name: string): Extent | undefined {
  // Without an escape in the text, what does not stand in it is not in it: then nothing has to be looked through.
  if (!text.includes(name) && !text.includes('\\')) return undefined
  return membersAt(text, 0).find((one) => one.name === name)?.value
}

function without(text: string, name: string): string {
  const members = membersAt(text, 0)
  const index = members.findIndex((one) => one.name === name)
  const [before, found, after] = [members[index - 1], members[index], members[index + 1]]
  if (found === undefined) return text
  // With the comma that parts it from another.
  const start = before?.end ?? found.start
  const end = before === undefined ? (after?.start ?? found.end) : found.end
  return text.slice(0, start) + text.slice(end)
}

/**
 * Adds an element to an array of a JSON body, or makes the array.
 * @throws GatewayError GW_INVALID_BODY where something else stands there: the engine would not have read it
 */
export function appendTo(body: Buffer | null, name: string, value: unknown): Buffer {
  const text = textOf(body)
  const array = valueOf(text, name)
  const json = JSON.stringify(value)
  if (array === undefined || text.startsWith('null', array.start))
    return Buffer.from(withMember(text, name, `[${json}]`))
  if (text[array.start] !== '[')
    throw new GatewayError('GW_INVALID_BODY', {
      message: `The request body does not fit the operation: $.${name}: is not a list`,
    })
  return Buffer.from(withLast(text, array.end - 1, json))
}

/** One member of a JSON body as its own bytes; null: it is absent or null. */
export function memberBytes(body: Buffer, name: string): Buffer | null {
  const text = textOf(body)
  const value = valueOf(text, name)
  const given = value === undefined ? 'null' : text.slice(value.start, value.end)
  return given === 'null' ? null : Buffer.from(given)
}

/** What becomes of an element, given as its own bytes. */
type Change = (element: Buffer, index: number) => Buffer

/**
 * Changes the elements of an array in a JSON body, each by itself; the other bytes stay as they are. The body is looked
 * through once: splicing it anew for each element takes time with the square of their number. `name`: the member that is
 * the array; null: the body itself is.
 */
export function spliceElements(body: Buffer, name: string | null, change: Change): Buffer {
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

/** Without the byte order mark that the engine accepts and JSON.parse does not. */
function textOf(body: Buffer | null): string {
  return body === null || body.length === 0 ? '{}' : body.toString('utf8').replace(/^\uFEFF/, '')
}
