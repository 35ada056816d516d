import type { Asked } from './asked.ts'
import { bodyText, bodyValue, isRecord } from './asked.ts'
import type { FindEach } from './authorize.ts'
import type { Facts, LookUp, ReadEngine } from './lookup.ts'

type Json = Readonly<Record<string, unknown>>

/** Start events found in the latest definitions: more definitions than this are not searched. */
const MAX_DEFINITIONS = 2000
const START_EVENT = /<(?:[\w-]+:)?startEvent\b[^>]*?\bid\s*=\s*(?:"([^"]*)"|'([^']*)')/g

interface SignalOptions {
  readonly read: ReadEngine
  readonly lookUp: LookUp
}

/**
 * Finds whom a signal reaches: the executions that wait for it, and the definitions it starts. A start subscription
 * does not name its definition, so it is found by its start event in the latest versions' XML; where several fit,
 * all of them are asked about.
 */
export function createSignalFinder(options: SignalOptions): FindEach {
  const finder = new SignalFinder(options)
  return async (each, asked) => {
    if (each === 'signalSubscriptions') return finder.executions(asked)
    return each === 'signalStarts' ? finder.starts(asked) : null
  }
}

class SignalFinder {
  readonly #options: SignalOptions
  /** Of a definition, which never changes. */
  readonly #startEvents = new Map<string, ReadonlySet<string>>()

  constructor(options: SignalOptions) {
    this.#options = options
  }

  async executions(asked: Asked): Promise<readonly Facts[]> {
    const waiting = (await this.#subscriptions(asked)).filter(({ executionId }) => executionId !== null)
    const found = await Promise.all(
      waiting.map(({ executionId }) => this.#options.lookUp('execution', executionId ?? '')),
    )
    return found.filter((facts) => facts !== null)
  }

  /** Null: a start subscription fits no definition that was searched, so nothing can be said about it. */
  async starts(asked: Asked): Promise<readonly Facts[] | null> {
    const subscriptions = (await this.#subscriptions(asked)).filter(({ executionId }) => executionId === null)
    if (subscriptions.length === 0) return []
    const latest = `/process-definition?latestVersion=true&active=true&maxResults=${MAX_DEFINITIONS}`
    const definitions = rowsOf(await this.#options.read(latest))
    const starts: Facts[] = []
    for (const { activityId, tenantId } of subscriptions) {
      const fitting = await this.#fitting(definitions, activityId ?? '', tenantId ?? null)
      if (fitting.length === 0 && definitions.length === MAX_DEFINITIONS) return null
      starts.push(...fitting)
    }
    return starts
  }

  async #subscriptions({ body }: Asked): Promise<readonly Facts[]> {
    const query = new URLSearchParams({ eventType: 'signal', eventName: bodyText(body, 'name') ?? '' })
    const executionId = bodyText(body, 'executionId')
    const tenantId = bodyText(body, 'tenantId')
    if (executionId !== null) query.set('executionId', executionId)
    if (tenantId !== null) query.set('tenantIdIn', tenantId)
    if (bodyValue(body, 'withoutTenantId') === true) query.set('withoutTenantId', 'true')
    const rows = rowsOf(await this.#options.read(`/event-subscription?${query}`))
    return rows.map((row) => ({
      executionId: textOf(row['executionId']),
      activityId: textOf(row['activityId']),
      tenantId: textOf(row['tenantId']),
    }))
  }

  async #fitting(
    definitions: readonly Json[],
    activityId: string,
    tenantId: string | null,
  ): Promise<Facts[]> {
    const fitting: Facts[] = []
    for (const definition of definitions) {
      if (textOf(definition['tenantId']) !== tenantId) continue
      const events = await this.#startEventsOf(textOf(definition['id']) ?? '')
      if (events.has(activityId)) fitting.push({ processDefinitionKey: textOf(definition['key']) })
    }
    return fitting
  }

  async #startEventsOf(definitionId: string): Promise<ReadonlySet<string>> {
    const known = this.#startEvents.get(definitionId)
    if (known !== undefined) return known
    const answer = await this.#options.read(`/process-definition/${encodeURIComponent(definitionId)}/xml`)
    const xml = isRecord(answer) ? (textOf(answer['bpmn20Xml']) ?? '') : ''
    const ids = new Set([...xml.matchAll(START_EVENT)].map(([, double, single]) => double ?? single ?? ''))
    if (this.#startEvents.size >= MAX_DEFINITIONS) this.#startEvents.clear()
    this.#startEvents.set(definitionId, ids)
    return ids
  }
}

function rowsOf(answer: unknown): readonly Json[] {
  return Array.isArray(answer) ? answer.filter(isRecord) : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
