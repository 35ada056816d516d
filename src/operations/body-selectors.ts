/** A query in a body that selects entities. It selects only entities that the caller may see. */
export type Selector =
  | 'externalTaskQuery'
  | 'historicBatchQuery'
  | 'historicDecisionInstanceQuery'
  | 'historicProcessInstanceQuery'
  | 'jobQuery'
  | 'processInstanceQuery'

/** The operations that list the entities that a selector selects. */
export const SELECTOR_LISTS: Readonly<Record<Selector, string>> = {
  externalTaskQuery: 'queryExternalTasks',
  historicBatchQuery: 'getHistoricBatches',
  historicDecisionInstanceQuery: 'getHistoricDecisionInstances',
  historicProcessInstanceQuery: 'queryHistoricProcessInstances',
  jobQuery: 'queryJobs',
  processInstanceQuery: 'queryProcessInstances',
}

export const LISTED_SELECTORS = Object.keys(SELECTOR_LISTS).filter(isSelector)

function isSelector(name: string): name is Selector {
  return Object.hasOwn(SELECTOR_LISTS, name)
}

/** A member of a body with ids that the engine looks up by a query. */
type LookedUpMember =
  | 'historicBatchIds'
  | 'historicDecisionInstanceIds'
  | 'historicProcessInstanceIds'
  | 'processInstanceIds'
  | 'processInstances'

/**
 * The operation that finds ids, with the member of its query that accepts them, and the member of an item that contains an id. Without
 * `[]` the query accepts only one id: `getHistoricBatches(batchId).id`.
 */
type IdLookup = `${string}(${string}).${string}`

/** Each query with the member that accepts ids instead, and each member of ids with its lookup. */
export type BodySelectors = { readonly [S in Selector]?: string } & { readonly [M in LookedUpMember]?: IdLookup }

/** The selectors of a compiled operation. */
export interface CompiledSelectors {
  readonly queries: { readonly [S in Selector]?: string }
  readonly ids: Readonly<Record<string, Finder>>
}

/** How the engine finds ids that a body contains: the list operation, and the member of its query that accepts the ids. */
export interface Finder {
  readonly list: string
  readonly by: string
  /** The member of an item that contains the id. Default: `id`. */
  readonly gives?: string
  /** The query accepts only one id. */
  readonly single?: true
}

/** Separates the queries of a body from the members of ids. @throws Error if a lookup cannot be read */
export function compileSelectors(selectors: BodySelectors): CompiledSelectors {
  const entries: readonly (readonly [string, string])[] = Object.entries(selectors)
  return {
    queries: Object.fromEntries(entries.filter(([member]) => isSelector(member))),
    ids: Object.fromEntries(
      entries.flatMap(([member, lookup]) => (isSelector(member) ? [] : [[member, compileLookup(lookup)]])),
    ),
  }
}

function compileLookup(lookup: string): Finder {
  const [, list, by, many, gives] = /^(\w+)\((\w+)(\[\])?\)\.(\w+)$/.exec(lookup) ?? []
  if (list === undefined || by === undefined || gives === undefined)
    throw new Error(`The table has the selector ${lookup}, which is not a lookup of ids`)
  return { list, by, ...(gives !== 'id' && { gives }), ...(many === undefined && { single: true }) }
}
