import type { Asked } from './asked.ts'
import { bodyText, bodyValue, isRecord } from './asked.ts'
import type { Facts, LookUp, ReadEngine } from './lookup.ts'
import { rowsOf, type StartFinder, textOf } from './starts.ts'

interface MessageOptions {
  readonly read: ReadEngine
  readonly lookUp: LookUp
  readonly starts: StartFinder
}

interface Correlated {
  readonly executions: readonly Facts[]
  readonly definitions: readonly Facts[]
}

/**
 * Whom a message reaches, as the engine's correlation finds them: executions first, and a definition that it starts only
 * where there is none, unless all are wanted. Null: it cannot be told here.
 */
export class MessageFinder {
  readonly #options: MessageOptions

  constructor(options: MessageOptions) {
    this.#options = options
  }

  async executions(asked: Asked): Promise<readonly Facts[] | null> {
    return (await this.#correlate(asked))?.executions ?? null
  }

  async definitions(asked: Asked): Promise<readonly Facts[] | null> {
    return (await this.#correlate(asked))?.definitions ?? null
  }

  async #correlate({ body }: Asked): Promise<Correlated | null> {
    const query = executionQueryOf(body)
    if (query === null) return null
    const executions = rowsOf(await this.#options.read(`/execution?${query}`))
    const isForAll = bodyValue(body, 'all') === true
    const found = await this.#factsOf(executions)
    // Several where one is wanted are refused by the engine; all are asked about, for one may end meanwhile.
    if (!isForAll && executions.length > 0) return { executions: found, definitions: [] }
    const definitions = await this.#started(body)
    if (definitions === null) return null
    return { executions: found, definitions }
  }

  async #factsOf(executions: readonly Readonly<Record<string, unknown>>[]): Promise<readonly Facts[]> {
    const facts = await Promise.all(
      executions.map(async (row) => this.#options.lookUp('execution', textOf(row['id']) ?? '')),
    )
    return facts.filter((one) => one !== null)
  }

  #started(body: unknown): Promise<readonly Facts[] | null> {
    const eventName = bodyText(body, 'messageName') ?? ''
    return this.#options.starts.startedBy('message', { eventName, ...tenantQueryOf(body) })
  }
}

function executionQueryOf(body: unknown): URLSearchParams | null {
  const messageName = bodyText(body, 'messageName')
  if (messageName === null || messageName === '') return null
  const query = new URLSearchParams({ messageEventSubscriptionName: messageName, active: 'true' })
  for (const [member, parameter] of [
    ['businessKey', 'businessKey'],
    ['processInstanceId', 'processInstanceId'],
  ] as const) {
    const value = bodyText(body, member)
    if (value !== null) query.set(parameter, value)
  }
  for (const [name, value] of Object.entries(tenantQueryOf(body))) query.set(name, value)
  const keys = filtersOf(bodyValue(body, 'correlationKeys'))
  const localKeys = filtersOf(bodyValue(body, 'localCorrelationKeys'))
  if (keys === null || localKeys === null) return null
  if (keys !== '') query.set('processVariables', keys)
  if (localKeys !== '') query.set('variables', localKeys)
  return query
}

function tenantQueryOf(body: unknown): Readonly<Record<string, string>> {
  if (bodyValue(body, 'withoutTenantId') === true) return { withoutTenantId: 'true' }
  const tenantId = bodyText(body, 'tenantId')
  return tenantId === null ? {} : { tenantIdIn: tenantId }
}

/** Only texts can be written in a query string; and only those in which nothing separates. */
function filtersOf(keys: unknown): string | null {
  if (!isRecord(keys)) return ''
  const filters = Object.entries(keys).map(([name, key]) => {
    const value = isRecord(key) ? key['value'] : null
    const isText = typeof value === 'string' && !/[_,]/.test(name + value)
    return isText ? `${name}_eq_${value}` : null
  })
  return filters.includes(null) ? null : filters.join(',')
}
