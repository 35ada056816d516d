import { LRUCache } from 'lru-cache'
import type { LookupName } from '../../../operations/lookup-name.ts'
import { stringIn } from '../../../request/value.ts'
import type { Attributes, MissingReason } from '../../../request/attributes.ts'
import { jobCommandOf } from './job-command.ts'
import { tenantsOfEntries, UNKNOWN_TENANT } from './log-tenants.ts'
import { listByIds } from './lookup-lists.ts'
import { entityIn, type Item, readList } from './lookup-response.ts'
import type { ListedName, LookUps, ReadEngine } from './look-ups.ts'
import { chain, type MaybePromise } from '../../../request/maybe-promise.ts'
import { RENEWAL_SHARE } from '../../../request/renewal-share.ts'
import { SingleFlight } from '../../../request/single-flight.ts'
import { COMPOSITES, type LookupRule, LOOKUPS, shapeOf } from './lookup-rules.ts'

/** The definition that a key refers to changes only with deployments. */
const OF_KEY = { ttl: 5000 }

/**
 * Definitions never change key or tenant under their id. The lifetime limits how long the gateway trusts the response of a
 * wrong service that looks like a definition.
 */
const OF_ID = { ttl: 600_000 }

/** The entities that are stored, and for how many milliseconds. All others are read for each request. */
const KEPT: Readonly<Partial<Record<LookupName, { readonly ttl: number }>>> = {
  processDefinition: OF_ID,
  decisionDefinition: OF_ID,
  decisionRequirementsDefinition: OF_ID,
  processDefinitionOfKey: OF_KEY,
  decisionDefinitionOfKey: OF_KEY,
  decisionRequirementsDefinitionOfKey: OF_KEY,
}

interface LookUpOptions {
  readonly read: ReadEngine
  /** The number of definitions that are stored. Default 10,000. */
  readonly maxRemembered?: number
  /** Monotonic milliseconds. Default: performance.now. */
  readonly nowMs?: () => number
}

/** Creates one engine's lookups. Simultaneous reads of the same entity share one request. */
export function createLookUps(options: LookUpOptions): LookUps {
  const lookUps = new EntityLookUps(options)
  return {
    lookUp: (name, id, onMissing) => lookUps.lookUp(name, id, onMissing),
    lookUpAll: (name, ids, checkDeadline) => lookUps.lookUpAll(name, ids, checkDeadline),
  }
}

/** The number of annotations of annotations that are followed, each with a request. */
const MAX_ANNOTATIONS = 3

const NOT_FOUND: MissingReason = 'not found by the look-up'

class EntityLookUps {
  readonly #read: ReadEngine
  readonly #remembered: LRUCache<string, Attributes>
  readonly #inFlight = new SingleFlight<Attributes | MissingReason>()
  /** The stored attributes for which a renewal was tried. Each entry is renewed once at most, so that a failure is not repeated. */
  readonly #renewed = new WeakSet<Attributes>()

  constructor({ read, maxRemembered = 10_000, nowMs = () => performance.now() }: LookUpOptions) {
    this.#read = read
    // The option `max` would allocate memory for all entries at once, a quarter of a megabyte for each engine.
    this.#remembered = new LRUCache({
      maxSize: maxRemembered,
      sizeCalculation: () => 1,
      perf: { now: nowMs },
      // The clock is read each time. Otherwise a timer would update a copy of the time.
      ttlResolution: 0,
    })
  }

  lookUp(
    name: LookupName,
    id: string,
    onMissing?: (reason: MissingReason) => void,
  ): MaybePromise<Attributes | null> {
    return chain(this.#find(name, id), (found) => {
      if (typeof found !== 'string') return found
      onMissing?.(found)
      return null
    })
  }

  #find(name: LookupName, id: string): MaybePromise<Attributes | MissingReason> {
    if (!isNameable(id)) return NOT_FOUND
    const key = `${name} ${id}`
    const loaded = this.#remembered.get(key)
    if (loaded !== undefined) {
      this.#renewIfDue(name, id, loaded)
      return loaded
    }
    return this.#inFlight.running(key)?.result ?? this.#inFlight.begin(key, null, () => this.#load(name, id))
  }

  /** Reads an entity in the background if most of its time is over, so that no request waits at the end of this time. */
  #renewIfDue(name: LookupName, id: string, loaded: Attributes): void {
    const { ttl = 0 } = KEPT[name] ?? {}
    const key = `${name} ${id}`
    if (this.#remembered.getRemainingTTL(key) > (1 - RENEWAL_SHARE) * ttl || this.#renewed.has(loaded)) return
    this.#renewed.add(loaded)
    const forgetMissing = (found: Attributes | MissingReason) => {
      if (typeof found === 'string' && this.#remembered.peek(key) === loaded) this.#remembered.delete(key)
    }
    // The next request that needs the entity after its time reports the failure.
    this.#inFlight.begin(key, null, () => this.#load(name, id)).then(forgetMissing, () => undefined)
  }

  async lookUpAll(
    name: ListedName,
    ids: readonly string[],
    checkDeadline: () => void = () => undefined,
  ): Promise<ReadonlyMap<string, Attributes>> {
    const found = new Map<string, Attributes>()
    const unknown: string[] = []
    for (const id of new Set(ids.filter(isNameable))) {
      const attributes = this.#remembered.get(`${name} ${id}`)
      if (attributes === undefined) unknown.push(id)
      else found.set(id, attributes)
    }
    // The lookup of a single id shares its request with other lookups of the same id.
    const { items, respelt } =
      unknown.length === 1
        ? { items: NONE, respelt: unknown }
        : await listByIds(name, unknown, (path, query) => {
            checkDeadline()
            return this.#read(path, query)
          })
    const keys = await this.#keysOf(name, items, checkDeadline)
    for (const [id, item] of items) {
      const attributes = attributesOf(name, item, keys)
      if (attributes !== null) found.set(id, this.#remember(name, id, attributes))
    }
    for (const id of respelt) {
      checkDeadline()
      const attributes = await this.lookUp(name, id)
      if (attributes !== null) found.set(id, attributes)
    }
    return found
  }

  /** Returns the keys of the definitions that the items name only by id. */
  async #keysOf(name: ListedName, items: ReadonlyMap<string, Item>, checkDeadline: () => void) {
    const { definition } = LOOKUPS[name]
    if (definition === undefined) return new Map<string, Attributes>()
    const ids = [...items.values()].flatMap((item) => stringIn(item, definition) ?? [])
    return this.lookUpAll('processDefinition', ids, checkDeadline)
  }

  #remember(name: LookupName, id: string, attributes: Attributes): Attributes {
    const kept = KEPT[name]
    if (kept !== undefined) this.#remembered.set(`${name} ${id}`, attributes, kept)
    return attributes
  }

  async #load(name: LookupName, id: string): Promise<Attributes | MissingReason> {
    const rule = LOOKUPS[name]
    const [response, ...others] = await this.#entitiesOf(name, id)
    if (response === undefined) return NOT_FOUND
    const attributes = membersOf(rule, response)
    if (rule.command) attributes['command'] = await jobCommandOf(response, this.#read)
    if (rule.isLog) attributes['tenantId'] = await this.#tenantOfLog([response, ...others])
    if (needsKey(rule, attributes)) {
      const definitionId = await this.#definitionOf(rule, response)
      const key = definitionId === null ? null : await this.#keyOf(definitionId)
      // The definition is deleted, so the entity will be deleted, too. It does not count as an entity without a definition,
      // which every caller may see.
      if (definitionId !== null && key === null) return 'its process definition is gone'
      attributes['processDefinitionKey'] = key
    }
    return this.#remember(name, id, attributes)
  }

  /** Returns the entity, and if only a query finds it, all items of the list. */
  async #entitiesOf(name: LookupName, id: string): Promise<readonly Item[]> {
    const { path: pathOf, isList } = LOOKUPS[name]
    const path = pathOf(COMPOSITES[name] === undefined ? encodeURIComponent(id) : id)
    const shape = shapeOf(name, id)
    if (isList === true) return readList(this.#read, { path, shape })
    const entity = entityIn(await this.#read(path), { path, shape })
    return entity === null ? [] : [entity]
  }

  async #definitionOf(rule: LookupRule, response: Item): Promise<string | null> {
    if (rule.definition !== undefined) return stringIn(response, rule.definition)
    const instanceId = rule.instance === undefined ? null : stringIn(response, rule.instance)
    if (instanceId === null) return null
    const [instance] = await this.#entitiesOf('processInstance', instanceId)
    // The instance has just ended, so it counts as deleted, like an instance whose definition is deleted.
    return instance === undefined ? '' : stringIn(instance, 'definitionId')
  }

  /** Returns the tenant of all entries of one operation. An engine looks at one of them, without a defined order. */
  async #tenantOfLog(entries: readonly Item[], followed = 0): Promise<string | null> {
    const ids = entries.flatMap((entry) => stringIn(entry, 'processDefinitionId') ?? [])
    const definitions = await this.lookUpAll('processDefinition', ids)
    const tenantOfAnnotated = async (id: string) => {
      if (followed === MAX_ANNOTATIONS || !isNameable(id)) return null
      const annotated = await this.#entitiesOf('operationLogEntry', id)
      return { tenantId: await this.#tenantOfLog(annotated, followed + 1) }
    }
    const tenants = await tenantsOfEntries(entries, definitions, {
      lookUp: (name, id) => (name === 'operationLogEntry' ? tenantOfAnnotated(id) : this.lookUp(name, id)),
      lookUpAll: (name, some) => this.lookUpAll(name, some),
    })
    const [tenant = UNKNOWN_TENANT, ...others] = new Set(tenants.values())
    return others.length === 0 ? tenant : UNKNOWN_TENANT
  }

  async #keyOf(definitionId: string): Promise<string | null> {
    if (definitionId === '') return null
    return (await this.lookUp('processDefinition', definitionId))?.['key'] ?? null
  }
}

/** Returns whether the response names the definition only by its id or its instance. */
function needsKey({ definition, instance }: LookupRule, attributes: Attributes): boolean {
  return (attributes['processDefinitionKey'] ?? null) === null && (definition ?? instance) !== undefined
}

const NONE: ReadonlyMap<string, Item> = new Map()

function membersOf({ members }: LookupRule, response: Item): Record<string, string | null> {
  const attributes: Record<string, string | null> = {}
  for (const member of members) attributes[member] = stringIn(response, member)
  return attributes
}

/** Returns the attributes of an item of a list, or null if its definition is deleted. */
function attributesOf(
  name: ListedName,
  item: Item,
  definitions: ReadonlyMap<string, Attributes>,
): Attributes | null {
  const rule = LOOKUPS[name]
  const attributes = membersOf(rule, item)
  if (rule.definition === undefined) return attributes
  const definitionId = stringIn(item, rule.definition)
  const key = definitionId === null ? null : (definitions.get(definitionId)?.['key'] ?? null)
  return definitionId !== null && key === null ? null : { ...attributes, processDefinitionKey: key }
}

/**
 * Returns whether an id can be the last part of a path. An empty id or a dot segment leads to another path, such as the list
 * of all entities. Half a surrogate pair cannot be encoded.
 */
export function isNameable(id: string): boolean {
  return id !== '' && id !== '.' && id !== '..' && !/\p{Surrogate}/u.test(id)
}
