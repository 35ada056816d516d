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

/** How the engine finds ids that a body contains: the list operation, and the member of its query that accepts the ids. */
export interface Finder {
  readonly list: string
  readonly by: string
  /** The member of an item that contains the id. Default: `id`. */
  readonly gives?: string
  /** The query accepts only one id. */
  readonly single?: true
}
