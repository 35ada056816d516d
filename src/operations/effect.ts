import type { Effect, OperationEntry } from './table.ts'

/** The fields that only a write has. A read has no change to audit, and nothing to evict, to repeat after a conflict, or to execute once. */
const FIELDS_OF_WRITES = ['auditedChange', 'changes', 'conflict', 'creates', 'idempotencyKey', 'newTasks'] as const

/**
 * Returns the effect of an operation. If the entry does not name it, GET and OPTIONS read, a POST that lists or counts items reads
 * unless it locks them, and every other operation writes.
 */
export function effectOf(entry: OperationEntry): Effect {
  return entry.effect ?? (hasSafeMethod(entry) || isQuery(entry) ? 'read' : 'write')
}

/** Returns the contradiction between the effect of an operation and its other fields, or null if there is none. */
export function mistakeInEffect(entry: OperationEntry): string | null {
  if (effectOf(entry) === 'write') return entry.cache === undefined ? null : 'is a write, but has `cache`'
  if (/^(PUT|DELETE) /.test(entry.route)) return 'is a read, but its method changes an entity'
  if (entry.items?.form === 'locks') return 'is a read, but locks its items'
  const field = FIELDS_OF_WRITES.find((name) => entry[name] !== undefined)
  return field === undefined ? null : `is a read, but has \`${field}\``
}

function hasSafeMethod({ route }: OperationEntry): boolean {
  return /^(GET|OPTIONS) /.test(route)
}

function isQuery({ route, items }: OperationEntry): boolean {
  return route.startsWith('POST ') && items !== undefined && items.form !== 'locks'
}
