import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser'
import { GatewayError } from '../errors.ts'
import { isRecord } from './asked.ts'

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
export function spliceMember(body: Buffer | null, path: (string | number)[], value: unknown): Buffer {
  const text = textOf(body)
  return Buffer.from(applyEdits(text, modify(text, path, value, {})))
}

/**
 * Adds an element to an array of a JSON body, or makes the array.
 * @throws GatewayError GW_INVALID_BODY where something else stands there: the engine would not have read it
 */
export function appendTo(body: Buffer | null, member: string, value: unknown): Buffer {
  const text = textOf(body)
  const found: unknown = JSON.parse(text)
  const list = isRecord(found) ? (found[member] ?? null) : null
  if (list !== null && !Array.isArray(list))
    throw new GatewayError('GW_INVALID_BODY', {
      message: `The request body does not fit the operation: $.${member}: is not a list`,
    })
  const edits =
    list !== null
      ? modify(text, [member, -1], value, { isArrayInsertion: true })
      : modify(text, [member], [value], {})
  return Buffer.from(applyEdits(text, edits))
}

/** One member of a JSON body as its own bytes; null: it is absent or null. */
export function memberBytes(body: Buffer, member: string): Buffer | null {
  const text = textOf(body)
  const tree = parseTree(text)
  const node = tree === undefined ? undefined : findNodeAtLocation(tree, [member])
  if (node === undefined || node.type === 'null') return null
  return Buffer.from(text.slice(node.offset, node.offset + node.length))
}

/** What becomes of an element, given as its own bytes; null: it is taken out. */
type Change = (element: Buffer, index: number) => Buffer | null

/**
 * Changes the elements of an array in a JSON body, each by itself; the other bytes stay as they are. The body is parsed
 * once: splicing it anew for each element takes time with the square of their number.
 */
export function spliceElements(body: Buffer, path: string[], change: Change): Buffer {
  const text = textOf(body)
  const tree = parseTree(text)
  const elements = (tree === undefined ? undefined : findNodeAtLocation(tree, path))?.children ?? []
  const start = elements[0]?.offset ?? text.length
  const kept: string[] = []
  let end = start
  for (const [index, { offset, length }] of elements.entries()) {
    const changed = change(Buffer.from(text.slice(offset, offset + length)), index)
    // What parts an element from the one before goes and stays with it.
    if (changed !== null)
      kept.push(kept.length === 0 ? '' : text.slice(end, offset), changed.toString('utf8'))
    end = offset + length
  }
  return Buffer.from(text.slice(0, start) + kept.join('') + text.slice(end))
}

/** Without the byte order mark that the engine accepts and JSON.parse does not. */
function textOf(body: Buffer | null): string {
  return body === null || body.length === 0 ? '{}' : body.toString('utf8').replace(/^\uFEFF/, '')
}
