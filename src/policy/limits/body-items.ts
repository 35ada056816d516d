import { GatewayError, type OperatorText, ownText } from '../../errors.ts'
import { isObject } from '../../request/value.ts'

/** A kind of items in the lists of a request. Names of `limits.items`. */
export type ItemKind = 'topics' | 'correlationKeys' | 'conditions' | 'orQueries' | 'sorting' | 'ids'

/** The maximum number of items of each kind in one request. */
export type ItemLimits = Readonly<Record<ItemKind, number>>

/** The lists of a query, by the names of their members. Every other list of texts or numbers contains ids. */
const KIND_OF_LIST: ReadonlyMap<string, ItemKind> = new Map([
  ['topics', 'topics'],
  ['orQueries', 'orQueries'],
  ['sorting', 'sorting'],
  ['variables', 'conditions'],
  ['variableValues', 'conditions'],
  ['processVariables', 'conditions'],
  ['taskVariables', 'conditions'],
  ['caseInstanceVariables', 'conditions'],
  ['createTimes', 'conditions'],
  ['dueDates', 'conditions'],
])

/** The objects whose members are conditions. In other bodies, `processVariables` sets variables. */
const KIND_OF_MAP: ReadonlyMap<string, ItemKind> = new Map([
  ['correlationKeys', 'correlationKeys'],
  ['localCorrelationKeys', 'correlationKeys'],
])
const KIND_OF_TOPIC_MAP: ReadonlyMap<string, ItemKind> = new Map([['processVariables', 'conditions']])

/** Parameters whose value is a list of conditions, separated by commas. */
const CONDITION_PARAMETERS = [...KIND_OF_LIST].flatMap(([name, kind]) =>
  kind === 'conditions' ? [name] : [],
)

/**
 * Checks the number of items in the lists of a body. An engine joins a table for each condition and compares every or-query and
 * topic with every task, so its time can grow with the square of their number. All lists of one kind are counted together: the
 * or-queries of a query may have conditions of their own.
 * @throws GatewayError GW_INVALID_BODY
 */
export function checkBodyItems(body: unknown, limits: ItemLimits): void {
  if (Array.isArray(body) && isListOfIds(body)) return new ItemCounts(limits).add('ids', body.length)
  if (isObject(body)) new ItemCounts(limits).addQuery(body, KIND_OF_MAP)
}

/** Checks the number of conditions in a query string. @throws GatewayError GW_INVALID_QUERY */
export function checkQueryItems(query: ReadonlyMap<string, string>, { conditions }: ItemLimits): void {
  if (query.size === 0) return
  let count = 0
  for (const name of CONDITION_PARAMETERS) {
    const value = query.get(name)
    if (value !== undefined) count += value.split(',').length
  }
  if (count > conditions)
    throw new GatewayError('GW_INVALID_QUERY', {
      message: messageOf('query string', 'conditions', conditions),
    })
}

class ItemCounts {
  readonly #limits: ItemLimits
  readonly #counts = new Map<ItemKind, number>()

  constructor(limits: ItemLimits) {
    this.#limits = limits
  }

  add(kind: ItemKind, items: number): void {
    const count = (this.#counts.get(kind) ?? 0) + items
    this.#counts.set(kind, count)
    const limit = this.#limits[kind]
    if (count > limit)
      throw new GatewayError('GW_INVALID_BODY', { message: messageOf('request body', kind, limit) })
  }

  addQuery(query: Readonly<Record<string, unknown>>, maps: typeof KIND_OF_MAP): void {
    // Object.entries would create an array for each member.
    for (const name of Object.keys(query)) {
      const value = query[name]
      if (Array.isArray(value)) this.#addList(name, value)
      else if (isObject(value)) this.#addObject(name, value, maps)
    }
  }

  #addList(name: string, list: readonly unknown[]): void {
    const kind = KIND_OF_LIST.get(name)
    if (isListOfIds(list)) return this.add('ids', list.length)
    if (kind === undefined) return
    this.add(kind, list.length)
    if (kind !== 'topics' && kind !== 'orQueries') return
    const maps = kind === 'topics' ? KIND_OF_TOPIC_MAP : KIND_OF_MAP
    for (const item of list) if (isObject(item)) this.addQuery(item, maps)
  }

  #addObject(name: string, object: Readonly<Record<string, unknown>>, maps: typeof KIND_OF_MAP): void {
    const kind = maps.get(name)
    if (kind !== undefined) this.add(kind, Object.keys(object).length)
    else if (isQuery(name)) this.addQuery(object, KIND_OF_MAP)
  }
}

/** Returns whether a member contains a query: that of a filter, or one by which a body selects entities. */
function isQuery(name: string): boolean {
  return name === 'query' || name.endsWith('Query')
}

/** The first item decides. A list of both kinds is refused later, because no list of the engine has both. */
function isListOfIds(list: readonly unknown[]): boolean {
  return list.length > 0 && typeof list[0] !== 'object'
}

/** Quotes nothing of the request, so the text is also for operators. */
function messageOf(part: 'request body' | 'query string', kind: ItemKind, limit: number): OperatorText {
  return ownText(`The ${part} has more than ${limit} ${NAMES[kind]} (limits.items.${kind})`)
}

const NAMES: Readonly<Record<ItemKind, string>> = {
  topics: 'topics',
  correlationKeys: 'correlation keys',
  conditions: 'conditions on variables or times',
  orQueries: 'orQueries',
  sorting: 'sort criteria',
  ids: 'ids or other texts in lists',
}
