import { findNodeAtLocation, parseTree } from 'jsonc-parser'

/** What becomes of an element, given as its own bytes; null: it is taken out. */
type Change = (element: Buffer, index: number) => Buffer | null

/**
 * Changes the elements of an array in a JSON body, each by itself; the other bytes stay as they are. The body is parsed
 * once: splicing it anew for each element takes time with the square of their number.
 */
export function spliceElements(body: Buffer, path: string[], change: Change): Buffer {
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
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
