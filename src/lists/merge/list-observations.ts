import type { ListSource } from '../list-request.ts'
import { OBSERVATION_MS } from '../limits.ts'

/** Recent observations about the lists of each engine, by operation. */
class Observations<Seen> {
  readonly #known = new WeakMap<ListSource, Map<string, { readonly seen: Seen; readonly untilMs: number }>>()

  /** Returns the observation, or null if there is no recent one. */
  of(engine: ListSource, operation: string): Seen | null {
    const known = this.#known.get(engine)?.get(operation)
    return known !== undefined && known.untilMs > performance.now() ? known.seen : null
  }

  note(engine: ListSource, operation: string, seen: Seen): void {
    const known =
      this.#known.get(engine) ?? new Map<string, { readonly seen: Seen; readonly untilMs: number }>()
    this.#known.set(engine, known.set(operation, { seen, untilMs: performance.now() + OBSERVATION_MS }))
  }
}

/** Counts that were large. They are counted with subqueries at once, without a count of the whole list. */
export const longCounts = new Observations<true>()
/** How long the first page of an unrestricted list took to read, in milliseconds. A database may sort the whole list for it. */
export const topTimes = new Observations<number>()
