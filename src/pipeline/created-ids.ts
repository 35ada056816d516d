import type { Operation } from '../operations/table.ts'
import { isRecord, jsonValueOf } from '../request/value.ts'

interface CompletedWrite {
  /** The body of the response. Null if it was too long to be kept, is encoded, or is empty. */
  readonly response: Buffer | null
  /** The parsed body of the request. */
  readonly body: unknown
}

/** Maximum number of ids in an audit line: one message may start a hundred instances. */
const MAX_IDS = 20

/**
 * Returns the ids of created entities, at the place that the field `creates` of the operation names. Empty if there are no ids, or
 * if they are unknown.
 */
export function createdIdsOf(
  { creates }: Pick<Operation, 'creates'>,
  done: CompletedWrite,
): readonly string[] {
  if (creates === undefined) return []
  const [where, path = ''] = creates.split(':')
  const value = where === 'body' ? done.body : keptResponseOf(done.response)
  return idsAt(value, path.split('.')).slice(0, MAX_IDS)
}

function idsAt(value: unknown, [name, ...rest]: readonly string[]): readonly string[] {
  if (name === undefined) return typeof value === 'string' && value !== '' ? [value] : []
  if (name === '[]') return Array.isArray(value) ? value.flatMap((one) => idsAt(one, rest)) : []
  return isRecord(value) && Object.hasOwn(value, name) ? idsAt(value[name], rest) : []
}

/** Returns the value in the kept body of a response. Undefined if no body was kept, or if it is not JSON. */
export function keptResponseOf(response: Buffer | null): unknown {
  return response === null ? undefined : jsonValueOf(response)
}
