import { bodyFlag, bodyText } from '../../../request/body.ts'
import { stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { entityIn, readList, type Item } from './lookup-response.ts'
import { type StartEvent, startEventsOf } from './start-events.ts'

/** More definitions than this are not searched. */
const MAX_DEFINITIONS = 2000

/** A subscription that starts instances: it names the start event, and not its definition. */
interface StartSubscription {
  readonly type: StartEvent['type']
  readonly activityId: string | null
  readonly name: string | null
  readonly tenantId: string | null
}

/**
 * Finds what an event starts. A start subscription does not name its definition, so that is found by the start event and
 * what it waits for, in the latest versions' XML; where several fit, all of them are meant.
 */
export class StartFinder {
  readonly #read: ReadEngine
  /** Of a definition, which never changes. */
  readonly #startEvents = new Map<string, readonly StartEvent[] | null>()

  constructor(read: ReadEngine) {
    this.#read = read
  }

  /**
   * Active definitions that an event starts, including those whose model cannot be read and which it may start. Null: a
   * subscription fits no definition, or there are too many definitions to search.
   */
  async startedBy(
    type: StartEvent['type'],
    query: Readonly<Record<string, string>>,
  ): Promise<readonly Attributes[] | null> {
    const rows = await subscriptionsOf(this.#read, { eventType: type, ...query })
    const starting = rows.filter((row) => stringOf(row['executionId']) === null)
    return this.#definitionsOf(
      starting.map((row) => ({
        type,
        activityId: stringOf(row['activityId']),
        name: stringOf(row['eventName']),
        tenantId: stringOf(row['tenantId']),
      })),
    )
  }

  /** Every version of all definitions. Null: there are too many. */
  async definitions(): Promise<readonly Attributes[] | null> {
    return (await this.#listed({}))?.map(attributesOf) ?? null
  }

  /** Null: there are too many. A definition left out could be started by who may not start it. */
  async #listed(query: Readonly<Record<string, string>>): Promise<readonly Item[] | null> {
    const parameters = new URLSearchParams({ ...query, maxResults: `${MAX_DEFINITIONS + 1}` })
    const rows = await readList(this.#read, { path: `/process-definition?${parameters}`, shape: DEFINITION })
    return rows.length > MAX_DEFINITIONS ? null : rows
  }

  async #definitionsOf(subscriptions: readonly StartSubscription[]): Promise<readonly Attributes[] | null> {
    if (subscriptions.length === 0) return []
    const definitions = await this.#listed({ latestVersion: 'true' })
    if (definitions === null) return null
    const started = new Map<string, Attributes>()
    for (const subscription of subscriptions) {
      const fitting = await this.#fitting(definitions, subscription)
      if (fitting.length === 0) return null
      // The engine starts no suspended definition, and asks nothing about it.
      for (const definition of fitting)
        if (definition['suspended'] !== true)
          started.set(stringOf(definition['id']) ?? '', attributesOf(definition))
    }
    return [...started.values()]
  }

  async #fitting(definitions: readonly Item[], { type, activityId, name, tenantId }: StartSubscription) {
    const fitting: Item[] = []
    for (const definition of definitions) {
      if (stringOf(definition['tenantId']) !== tenantId) continue
      const events = await this.#startEventsOf(definition)
      const fits = (event: StartEvent): boolean =>
        event.type === type && event.id === activityId && (event.name === null || event.name === name)
      // The event may start a definition whose model cannot be read.
      if (events === null || events.some(fits)) fitting.push(definition)
    }
    return fitting
  }

  /** Null: its XML cannot be read. */
  async #startEventsOf(definition: Item): Promise<readonly StartEvent[] | null> {
    const definitionId = stringOf(definition['id']) ?? ''
    const loaded = this.#startEvents.get(definitionId)
    if (loaded !== undefined) return loaded
    const path = `/process-definition/${encodeURIComponent(definitionId)}/xml`
    const model = entityIn(await this.#read(path), {
      path,
      shape: { named: { id: definitionId }, texts: ['bpmn20Xml'] },
    })
    // Deleted since it was listed: nothing to remember.
    if (model === null) return []
    const xml = stringOf(model['bpmn20Xml']) ?? ''
    const events = await startEventsOf(xml, stringOf(definition['key']) ?? '')
    if (this.#startEvents.size >= MAX_DEFINITIONS) this.#startEvents.clear()
    this.#startEvents.set(definitionId, events)
    return events
  }
}

function attributesOf(definition: Item): Attributes {
  return {
    id: stringOf(definition['id']),
    processDefinitionKey: stringOf(definition['key']),
    tenantId: stringOf(definition['tenantId']),
  }
}

/**
 * What an event's body says of tenants, as a query for subscriptions or executions. Where both are given a signal means
 * the tenant (engine 7.22), and other events are refused. Null: a query would take the comma in it for two tenants.
 */
export function tenantQueryOf(body: unknown): Readonly<Record<string, string>> | null {
  const tenantId = bodyText(body, 'tenantId')
  if (tenantId === null) return bodyFlag(body, 'withoutTenantId') ? { withoutTenantId: 'true' } : {}
  return tenantId.includes(',') ? null : { tenantIdIn: tenantId }
}

/** Lists event subscriptions. @throws GatewayError as `readList` */
export function subscriptionsOf(
  read: ReadEngine,
  query: Readonly<Record<string, string>> & { readonly eventType: string },
): Promise<readonly Item[]> {
  const path = `/event-subscription?${new URLSearchParams(query)}`
  return readList(read, { path, shape: { nullable: ['executionId', 'tenantId'] } })
}

const DEFINITION = { texts: ['id', 'key'], nullable: ['tenantId'] }
