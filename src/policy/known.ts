import type { LookupName } from '../operations/notation.ts'
import type { Facts } from './lookup.ts'

interface Entity {
  readonly lookup: LookupName
  readonly id: string
  readonly facts: Facts | null
}

/** The entities that were read for one request: one or two, so they are looked through. */
export class Known {
  readonly #entities: Entity[] = []

  /** Null: there is none with that id. `undefined`: it was not looked up. */
  find(lookup: LookupName, id: string | null): Facts | null | undefined {
    for (const entity of this.#entities) if (entity.lookup === lookup && entity.id === id) return entity.facts
    return undefined
  }

  /** Returns what it is given. */
  add(lookup: LookupName, id: string, facts: Facts | null): Facts | null {
    this.#entities.push({ lookup, id, facts })
    return facts
  }

  /** Whether something that was looked for is not there. */
  lacksOne(): boolean {
    return this.#entities.some(({ facts }) => facts === null)
  }
}
