import { callerValueOf } from '../../policy/validation/query-expressions.ts'
import { bodyValue } from '../../request/body.ts'
import type { Principal } from '../../request/principal.ts'
import { isObject } from '../../request/value.ts'
import { spliceElements, spliceMember } from './narrow.ts'

export type NamedCaller = Pick<Principal, 'userId' | 'groups'>

/** `whole`: a complete query. `blocks`: only its or-blocks, because the engine refuses expressions outside of them. */
type QueryPart = 'whole' | 'blocks'

/**
 * Returns the query with the caller's id and groups instead of the expressions that name them, because their values are null in an
 * engine without authentication. An expression counts more than the plain member, so its value replaces the value of the plain
 * member. Returns null if the query names the caller nowhere.
 */
export function nameCaller({ bytes, query }: TextQuery, caller: NamedCaller, part: QueryPart): Buffer | null {
  return namesCaller(query, caller, part) ? replaceIn({ bytes, query }, caller, part) : null
}

/** A query as the caller wrote it, and the parsed copy of it. */
interface TextQuery {
  readonly bytes: Buffer
  readonly query: unknown
}

/** Returns whether a parsed query contains an expression that the gateway can replace with a value. */
export function namesCaller(query: unknown, caller: NamedCaller, part: QueryPart): boolean {
  if (!isObject(query)) return false
  return (
    (part === 'whole' &&
      Object.keys(query).some((name) => callerValueOf(name, query[name], caller) !== null)) ||
    blocksOf(query).some((block) => namesCaller(block, caller, 'whole'))
  )
}

function replaceIn({ bytes, query }: TextQuery, caller: NamedCaller, part: QueryPart): Buffer {
  if (!isObject(query)) return bytes
  let replaced = bytes
  for (const name of part === 'whole' ? Object.keys(query) : []) {
    const found = callerValueOf(name, query[name], caller)
    if (found === null) continue
    replaced = spliceMember(replaced, name, undefined)
    replaced = spliceMember(replaced, found.plainName, found.value)
  }
  const blocks = blocksOf(query)
  if (blocks.length === 0) return replaced
  return spliceElements(replaced, 'orQueries', (block, at) =>
    replaceIn({ bytes: block, query: blocks[at] }, caller, 'whole'),
  )
}

function blocksOf(query: unknown): readonly unknown[] {
  const blocks = bodyValue(query, 'orQueries')
  return Array.isArray(blocks) ? blocks : []
}
