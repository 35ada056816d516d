import { isRecord } from './asked.ts'
import type { Facts, ReadEngine } from './lookup.ts'

type Json = Readonly<Record<string, unknown>>

/** Start events found in the latest definitions: more definitions than this are not searched. */
const MAX_DEFINITIONS = 2000
const START_EVENT = /<(?:[\w-]+:)?startEvent\b[^>]*?\bid\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/**
 * Finds what a start subscription starts. It does not name its definition, so that is found by its start event in the
 * latest versions' XML; where several fit, all of them are asked about.
 */
export class StartFinder {
  readonly #read: ReadEngine
  /** Of a definition, which never changes. */
  readonly #startEvents = new Map<string, ReadonlySet<string>>()

  constructor(read: ReadEngine) {
    this.#read = read
  }

  /** Definitions of start subscriptions, by `activityId` and `tenantId`. Null: one fits none that was searched. */
  async definitionsOf(subscriptions: readonly Facts[]): Promise<readonly Facts[] | null> {
    if (subscriptions.length === 0) return []
    const latest = `/process-definition?latestVersion=true&active=true&maxResults=${MAX_DEFINITIONS}`
    const definitions = rowsOf(await this.#read(latest))
    const starts: Facts[] = []
    for (const { activityId, tenantId } of subscriptions) {
      const fitting = await this.#fitting(definitions, activityId ?? '', tenantId ?? null)
      if (fitting.length === 0 && definitions.length === MAX_DEFINITIONS) return null
      starts.push(...fitting)
    }
    return starts
  }

  /** Those that wait for an event of this type and name; null for any name. */
  async startsOf(eventType: string, query: Readonly<Record<string, string>>): Promise<readonly Facts[]> {
    const rows = rowsOf(
      await this.#read(`/event-subscription?${new URLSearchParams({ eventType, ...query })}`),
    )
    return rows
      .filter((row) => textOf(row['executionId']) === null)
      .map((row) => ({ activityId: textOf(row['activityId']), tenantId: textOf(row['tenantId']) }))
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
      if (!events.has(activityId)) continue
      fitting.push({
        id: textOf(definition['id']),
        processDefinitionKey: textOf(definition['key']),
        tenantId,
      })
    }
    return fitting
  }

  async #startEventsOf(definitionId: string): Promise<ReadonlySet<string>> {
    const known = this.#startEvents.get(definitionId)
    if (known !== undefined) return known
    const answer = await this.#read(`/process-definition/${encodeURIComponent(definitionId)}/xml`)
    const xml = isRecord(answer) ? (textOf(answer['bpmn20Xml']) ?? '') : ''
    const ids = new Set([...xml.matchAll(START_EVENT)].map(([, double, single]) => double ?? single ?? ''))
    if (this.#startEvents.size >= MAX_DEFINITIONS) this.#startEvents.clear()
    this.#startEvents.set(definitionId, ids)
    return ids
  }
}

export function rowsOf(answer: unknown): readonly Json[] {
  return Array.isArray(answer) ? answer.filter(isRecord) : []
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
