import type { AccessRequest } from '../../../request/access-request.ts'
import { bodyValue, bodyFlag, bodyText } from '../../../request/body.ts'
import { isRecord } from '../../../request/value.ts'
import { executionsIn } from './executions.ts'
import type { LookUps, ReadEngine } from './look-ups.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { readList } from './lookup-response.ts'
import { type StartFinder, tenantQueryOf } from './start-finder.ts'

interface MessageOptions extends LookUps {
  readonly read: ReadEngine
  readonly starts: StartFinder
}

interface Correlated {
  readonly executions: readonly Attributes[]
  readonly definitions: readonly Attributes[]
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

  async executions(accessRequest: AccessRequest): Promise<readonly Attributes[] | null> {
    return (await this.#correlate(accessRequest))?.executions ?? null
  }

  async definitions(accessRequest: AccessRequest): Promise<readonly Attributes[] | null> {
    return (await this.#correlate(accessRequest))?.definitions ?? null
  }

  async #correlate({ body, stillAwaited }: AccessRequest): Promise<Correlated | null> {
    const query = executionQueryOf(body)
    if (query === null) return null
    const executions = await readList(this.#options.read, { path: `/execution?${query}`, shape: EXECUTION })
    const isForAll = bodyFlag(body, 'all')
    const found = await executionsIn(executions, 'id', { ...this.#options, stillAwaited })
    // Several where one is wanted are refused by the engine; all are asked about, for one may end meanwhile.
    if (!isForAll && executions.length > 0) return { executions: found, definitions: [] }
    const definitions = await this.#started(body)
    if (definitions === null) return null
    return { executions: found, definitions }
  }

  async #started(body: unknown): Promise<readonly Attributes[] | null> {
    const tenants = tenantQueryOf(body)
    if (tenants === null) return null
    const eventName = bodyText(body, 'messageName') ?? ''
    return this.#options.starts.startedBy('message', { eventName, ...tenants })
  }
}

const EXECUTION = { texts: ['id', 'processInstanceId'], nullable: ['tenantId'] }

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
  const tenants = tenantQueryOf(body)
  if (tenants === null) return null
  for (const [name, value] of Object.entries(tenants)) query.set(name, value)
  const keys = filtersOf(bodyValue(body, 'correlationKeys'))
  const localKeys = filtersOf(bodyValue(body, 'localCorrelationKeys'))
  if (keys === null || localKeys === null) return null
  if (keys !== '') query.set('processVariables', keys)
  if (localKeys !== '') query.set('variables', localKeys)
  return query
}

/** Null: not all of them can be written in a query string so that it means the same. */
function filtersOf(keys: unknown): string | null {
  if (!isRecord(keys)) return ''
  const filters = Object.entries(keys).map(([name, key]) => {
    const { value, type } = isRecord(key) ? key : {}
    const isText = typeof value === 'string' && isTextType(type) && isSameInQuery(name, value)
    return isText ? `${name}_eq_${value}` : null
  })
  return filters.includes(null) ? null : filters.join(',')
}

/** Any other makes something else of the text: `"5"` of type Integer is five. */
function isTextType(type: unknown): boolean {
  return type === undefined || type === null || (typeof type === 'string' && /^string$/i.test(type))
}

/**
 * In a query the engine reads a value as a date where it can, in quotes of its own, with nothing and `null` for no date
 * (`ConditionQueryParameterDto.resolveValue` and Jackson, engine 7.22).
 */
function isSameInQuery(name: string, value: string): boolean {
  const isSeparated = /[_,]/.test(name + value)
  const isNoText = /^\s*(?:null)?\s*$/i.test(value) || /["\\]/.test(value)
  const isDate = /-.*-.*T.*:.*:/s.test(value)
  return !isSeparated && !isNoText && !isDate
}
