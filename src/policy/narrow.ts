import { applyEdits, findNodeAtLocation, modify, parseTree } from 'jsonc-parser'
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

/** Adds an element to an array of a JSON body, or makes the array. */
export function appendTo(body: Buffer | null, member: string, value: unknown): Buffer {
  const text = textOf(body)
  const found: unknown = JSON.parse(text)
  const isArray = isRecord(found) && Array.isArray(found[member])
  const edits = isArray
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

/** Without the byte order mark that the engine accepts and JSON.parse does not. */
function textOf(body: Buffer | null): string {
  return body === null || body.length === 0 ? '{}' : body.toString('utf8').replace(/^\uFEFF/, '')
}
