import type { LookupName } from '../../../operations/lookup-name.ts'
import type { Attributes, MissingReason } from '../../../request/attributes.ts'

interface Entity {
  readonly lookup: LookupName
  readonly id: string
  readonly attributes: Attributes | null
}

interface Listed {
  readonly lookup: LookupName
  readonly ids: ReadonlySet<string>
  readonly found: ReadonlyMap<string, Attributes>
}

/** The entities that were read for one request: one or two, so they are looked through, and many of one kind that were asked for in lists. */
export class LoadedEntities {
  readonly #entities: Entity[] = []
  #listed: Listed | null = null
  /** Why what was looked for last, and is not there, was not found. */
  missingReason: MissingReason = 'not found by the look-up'

  /** Null: there is none with that id. `undefined`: it was not looked up. */
  find(lookup: LookupName, id: string | null): Attributes | null | undefined {
    if (this.#listed?.lookup === lookup && id !== null && this.#listed.ids.has(id))
      return this.#listed.found.get(id) ?? null
    for (const entity of this.#entities)
      if (entity.lookup === lookup && entity.id === id) return entity.attributes
    return undefined
  }

  /** Returns what it is given. */
  add(lookup: LookupName, id: string, attributes: Attributes | null): Attributes | null {
    this.#entities.push({ lookup, id, attributes })
    return attributes
  }

  /** Those of the ids that are not found are not there. What was listed before is forgotten. */
  list(lookup: LookupName, ids: readonly string[], found: ReadonlyMap<string, Attributes>): void {
    this.#listed = { lookup, ids: new Set(ids), found }
  }

  /** Whether something that was looked for is not there. */
  lacksEntity(): boolean {
    return this.#entities.some(({ attributes }) => attributes === null)
  }
}
