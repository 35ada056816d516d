import type { LookupName } from '../../../operations/notation.ts'
import type { Facts } from './lookup.ts'

interface Entity {
  readonly lookup: LookupName
  readonly id: string
  readonly facts: Facts | null
}

interface Listed {
  readonly lookup: LookupName
  readonly ids: ReadonlySet<string>
  readonly found: ReadonlyMap<string, Facts>
}

/** The entities that were read for one request: one or two, so they are looked through, and many of one kind that were asked for in lists. */
export class Known {
  readonly #entities: Entity[] = []
  #listed: Listed | null = null

  /** Null: there is none with that id. `undefined`: it was not looked up. */
  find(lookup: LookupName, id: string | null): Facts | null | undefined {
    if (this.#listed?.lookup === lookup && id !== null && this.#listed.ids.has(id))
      return this.#listed.found.get(id) ?? null
    for (const entity of this.#entities) if (entity.lookup === lookup && entity.id === id) return entity.facts
    return undefined
  }

  /** Returns what it is given. */
  add(lookup: LookupName, id: string, facts: Facts | null): Facts | null {
    this.#entities.push({ lookup, id, facts })
    return facts
  }

  /** Those of the ids that are not found are not there. What was listed before is forgotten. */
  list(lookup: LookupName, ids: readonly string[], found: ReadonlyMap<string, Facts>): void {
    this.#listed = { lookup, ids: new Set(ids), found }
  }

  /** Whether something that was looked for is not there. */
  lacksOne(): boolean {
    return this.#entities.some(({ facts }) => facts === null)
  }
}
