import type { LookupName } from '../../../operations/lookup-name.ts'
import type { Attributes, MissingReason } from '../../../request/attributes.ts'

interface SingleEntity {
  readonly lookup: LookupName
  readonly id: string
  readonly attributes: Attributes | null
}

interface EntityList {
  readonly lookup: LookupName
  readonly ids: ReadonlySet<string>
  readonly found: ReadonlyMap<string, Attributes>
}

/** The entities that were read for one request. One or two are read separately and searched one by one. Many of one kind may be read in lists. */
export class LoadedEntities {
  readonly #entities: SingleEntity[] = []
  #listed: EntityList | null = null
  /** The reason why the last lookup without a result found nothing. */
  missingReason: MissingReason = 'not found by the look-up'

  /** Null if there is no entity with that id. `undefined` if it was not looked up. */
  find(lookup: LookupName, id: string | null): Attributes | null | undefined {
    if (this.#listed?.lookup === lookup && id !== null && this.#listed.ids.has(id))
      return this.#listed.found.get(id) ?? null
    for (const entity of this.#entities)
      if (entity.lookup === lookup && entity.id === id) return entity.attributes
    return undefined
  }

  /** Returns the attributes that it receives. */
  add(lookup: LookupName, id: string, attributes: Attributes | null): Attributes | null {
    this.#entities.push({ lookup, id, attributes })
    return attributes
  }

  /** Stores a list. Ids that are not in `found` do not exist. The previous list is discarded. */
  list(lookup: LookupName, ids: readonly string[], found: ReadonlyMap<string, Attributes>): void {
    this.#listed = { lookup, ids: new Set(ids), found }
  }

  /** Returns whether a lookup found no entity. */
  isNotFound(): boolean {
    return this.#entities.some(({ attributes }) => attributes === null)
  }
}
