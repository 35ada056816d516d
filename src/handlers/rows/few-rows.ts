import type { EngineParts } from '../../pipeline/parts.ts'

/** So many rows are read rather than counted part by part. */
export const FEW_ROWS = 500
/** Of more parts than these a page or a count may first be tried in one read. */
export const MANY_PARTS = 4
/** What was seen of a list is looked at again after this. */
const LATELY_MS = 60_000

/** What was seen lately of the lists of each engine, by operation. */
class Lately<Seen> {
  readonly #known = new WeakMap<EngineParts, Map<string, { readonly seen: Seen; readonly untilMs: number }>>()

  /** Null: nothing. */
  of(engine: EngineParts, operation: string): Seen | null {
    const known = this.#known.get(engine)?.get(operation)
    return known !== undefined && known.untilMs > performance.now() ? known.seen : null
  }

  note(engine: EngineParts, operation: string, seen: Seen): void {
    const known =
      this.#known.get(engine) ?? new Map<string, { readonly seen: Seen; readonly untilMs: number }>()
    this.#known.set(engine, known.set(operation, { seen, untilMs: performance.now() + LATELY_MS }))
  }
}

/** Counts that had many rows. They are not asked as a whole before they are counted by parts. */
export const longCounts = new Lately<true>()
/** How long the beginning of an unrestricted list took to read, in milliseconds: a database may sort all of it. */
export const topTimes = new Lately<number>()
