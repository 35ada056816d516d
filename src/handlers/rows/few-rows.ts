import type { EngineParts } from '../../pipeline/parts.ts'

/** So many rows are read rather than counted part by part. */
export const FEW_ROWS = 500
/** Of more parts than these a page or a count may first be tried in one read. */
export const MANY_PARTS = 4
/** Lists that have grown long are looked at again after this. */
const MANY_MS = 60_000

/** Counts of one engine that had many rows. They are not asked as a whole before they are counted by parts. */
const longLists = new WeakMap<EngineParts, Map<string, number>>()

export function hadManyRows(engine: EngineParts, operation: string): boolean {
  return (longLists.get(engine)?.get(operation) ?? 0) > performance.now()
}

export function noteManyRows(engine: EngineParts, operation: string): void {
  const known = longLists.get(engine) ?? new Map<string, number>()
  longLists.set(engine, known.set(operation, performance.now() + MANY_MS))
}

/** By engine and operation. */
const tops = new WeakMap<EngineParts, Map<string, { readonly ms: number; readonly untilMs: number }>>()

/** How long the beginning of an unrestricted list took to read lately: a database may sort all of it. Null: not known. */
export function recentTopMs(engine: EngineParts, operation: string): number | null {
  const known = tops.get(engine)?.get(operation)
  return known !== undefined && known.untilMs > performance.now() ? known.ms : null
}

export function noteTopMs(engine: EngineParts, operation: string, ms: number): void {
  const known = tops.get(engine) ?? new Map<string, { readonly ms: number; readonly untilMs: number }>()
  tops.set(engine, known.set(operation, { ms, untilMs: performance.now() + MANY_MS }))
}
