import { bodyFlag, bodyText } from '../../../request/body.ts'
import { stringOf } from '../../../request/value.ts'
import type { ReadBytes, ReadEngine } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { jsonIn } from '../../../request/engine-request.ts'
import { entityIn, itemsIn, readList, type Item } from './lookup-response.ts'
import { decodeModel, isDoubtful } from '../../validation/model-text.ts'
import { type StartEvent, startEventsOf } from './start-events.ts'

/** The maximum number of definitions that are searched. */
const MAX_DEFINITIONS = 2000

/** A subscription that starts instances. It names the start event, but not the definition. */
interface StartSubscription {
  readonly type: StartEvent['type']
  readonly activityId: string | null
  readonly name: string | null
  readonly tenantId: string | null
}

export interface StartFinderOptions {
  readonly read: ReadEngine
  readonly readBytes: ReadBytes
  /** Called once for each definition whose model cannot be read, for at most 2,000 of them. */
  readonly onUnreadable: (definitionId: string) => void
}

/**
 * Finds the definitions that an event starts. A start subscription does not name its definition. The XML of the latest versions
 * shows which definitions have the start event. If several have it, all of them count.
 */
export class StartFinder {
  readonly #options: StartFinderOptions
  /** The start events of a definition, which never change. */
  readonly #startEvents = new Map<string, readonly StartEvent[] | null>()
  readonly #unreadable = new Set<string>()

  constructor(options: StartFinderOptions) {
    this.#options = options
  }

  /**
   * Returns the active definitions that an event starts, including definitions whose model cannot be read. Null if a subscription
   * fits no definition, or if there are too many definitions to search.
   */
  async startedBy(
    type: StartEvent['type'],
    query: Readonly<Record<string, string>>,
  ): Promise<readonly Attributes[] | null> {
    const items = await subscriptionsOf(this.#options.read, { eventType: type, ...query })
    const starting = items.filter((item) => stringOf(item['executionId']) === null)
    return this.#definitionsOf(
      starting.map((item) => ({
        type,
        activityId: stringOf(item['activityId']),
        name: stringOf(item['eventName']),
        tenantId: stringOf(item['tenantId']),
      })),
    )
  }

  /** Returns every version of all definitions. Null if there are too many. */
  async definitions(): Promise<readonly Attributes[] | null> {
    return (await this.#listed({}))?.map(attributesOf) ?? null
  }

  /** Returns null if there are too many. A caller could start a definition that is left out without the permission. */
  async #listed(query: Readonly<Record<string, string>>): Promise<readonly Item[] | null> {
    const parameters = new URLSearchParams({ ...query, maxResults: `${MAX_DEFINITIONS + 1}` })
    const items = await readList(this.#options.read, {
      path: `/process-definition?${parameters}`,
      shape: DEFINITION,
    })
    return items.length > MAX_DEFINITIONS ? null : items
  }

  async #definitionsOf(subscriptions: readonly StartSubscription[]): Promise<readonly Attributes[] | null> {
    if (subscriptions.length === 0) return []
    const definitions = await this.#listed({ latestVersion: 'true' })
    if (definitions === null) return null
    const started = new Map<string, Attributes>()
    for (const subscription of subscriptions) {
      const fitting = await this.#fitting(definitions, subscription)
      if (fitting.length === 0) return null
      // The engine starts no suspended definition, and runs no check for it.
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

  /** Returns null if the model cannot be read. */
  async #startEventsOf(definition: Item): Promise<readonly StartEvent[] | null> {
    const definitionId = stringOf(definition['id']) ?? ''
    const loaded = this.#startEvents.get(definitionId)
    if (loaded !== undefined) return loaded
    const path = `/process-definition/${encodeURIComponent(definitionId)}/xml`
    const model = entityIn(await this.#options.read(path), {
      path,
      shape: { named: { id: definitionId }, texts: ['bpmn20Xml'] },
    })
    // The definition was deleted after it was listed. Nothing is remembered.
    if (model === null) return []
    const events = await this.#eventsIn(stringOf(model['bpmn20Xml']) ?? '', definition)
    if (events === null) this.#report(definitionId)
    if (this.#startEvents.size >= MAX_DEFINITIONS) this.#startEvents.clear()
    this.#startEvents.set(definitionId, events)
    return events
  }

  /** Reads the bytes of the model if the text is not the model's own. */
  async #eventsIn(xml: string, definition: Item): Promise<readonly StartEvent[] | null> {
    const key = stringOf(definition['key']) ?? ''
    const bytes = isDoubtful(xml) ? await this.#bytesOf(definition) : null
    return startEventsOf((bytes === null ? null : decodeModel(bytes)) ?? xml, key)
  }

  /** Returns null if the gateway may not read the deployment, or if it no longer exists. */
  async #bytesOf(definition: Item): Promise<Buffer | null> {
    const { readBytes } = this.#options
    const path = `/deployment/${encodeURIComponent(stringOf(definition['deploymentId']) ?? '')}/resources`
    const list = await readBytes(path)
    if (list === null) return null
    const resources = itemsIn(jsonIn(list), { path, shape: { texts: ['id', 'name'] } })
    const id = stringOf(resources.find(({ name }) => name === definition['resource'])?.['id'])
    return id === null ? null : readBytes(`${path}/${encodeURIComponent(id)}/data`)
  }

  #report(definitionId: string): void {
    if (this.#unreadable.has(definitionId) || this.#unreadable.size >= MAX_DEFINITIONS) return
    this.#unreadable.add(definitionId)
    this.#options.onUnreadable(definitionId)
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
 * Returns the tenant conditions of an event's body as a query for subscriptions or executions. If both are given, a signal uses
 * the tenant (engine 7.22), and other events are refused. Null if the tenant contains a comma: a query would read two tenants.
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
