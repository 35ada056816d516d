import type { NotFoundAnswer, PermissionTerm, Check, Entity, Precondition, OtherTenantAnswer, Rows } from './notation.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/** A body schema by its name in the engine's published API; policy resolves it. */
export type BodyName =
  | 'AuthorizationCreateDto'
  | 'EvaluateDecisionDto'
  | 'ExecutionTriggerDto'
  | 'HistoricExternalTaskLogQueryDto'
  | 'MigrationExecutionDto'
  | 'MigrationPlanDto'
  | 'MigrationPlanGenerationDto'
  | 'SignalDto'
  | 'StartProcessInstanceFormDto'
  | 'TaskDto'
  | 'TaskQueryDto'
  | 'VariableValueDto'

/** A query-string schema; policy resolves it. */
export type QueryName =
  | 'ActivityStatisticsQuery'
  | 'EventSubscriptionQuery'
  | 'HistoricDecisionInstanceOptions'
  | 'HistoryCleanupOptions'
  | 'Paging'
  | 'TaskQuery'
  | 'TopicNamesQuery'

/** A query inside a body: it selects only what the caller may see. */
export type Selector =
  | 'externalTaskQuery'
  | 'historicBatchQuery'
  | 'historicDecisionInstanceQuery'
  | 'historicProcessInstanceQuery'
  | 'jobQuery'
  | 'processInstanceQuery'

/** The operation that lists what a selector selects. */
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

/** How the engine finds ids that a body names: the list operation, and the member of its query that takes them. */
export interface Finder {
  readonly list: string
  readonly by: string
  /** The member of a row that is such an id; default `id`. */
  readonly gives?: string
  /** The query takes one id only. */
  readonly single?: true
}

/** Authorization records; users, their passwords, groups and tenants; what the engine holds against a user. */
export type Change = 'records' | 'identity' | 'lockouts'

/** One row of the table: what the gateway knows of one operation. A column left out takes the cautious value. */
export interface Row {
  readonly route: `${Method} /${string}`
  /** The engines that have it; default: all, as Camunda 7.22 publishes it. */
  readonly only?: 'CIB seven' | 'Operaton, CIB seven'
  /** In the engine's order. Empty: the engine asks for no permission beyond being authenticated. */
  readonly checks: readonly Check[]
  /** The answer is a list or count of rows that the caller's records restrict. */
  readonly rows?: Rows
  /** The operation that counts the items of each answered filter, where `itemCount` asks for it. */
  readonly itemCount?: 'executeFilterCount'
  /** Members of the body that select by a query, and the member that takes the ids of what they select. */
  readonly resolvesQueries?: { readonly [Q in Selector]?: string }
  /** Members whose ids the engine looks for by a query: what is not there, or another tenant's, it leaves out. */
  readonly resolvesIds?: Readonly<Record<string, Finder>>
  /** What the engine says, before it asks for permission, when those queries find nothing. */
  readonly empty?: NotFoundAnswer
  /** `always`: a pure read, safe to repeat even after bytes were sent. Else it is repeated only if nothing was sent. */
  readonly retry?: 'always'
  /**
   * Repeated when the engine says that another transaction was quicker and this one was rolled back. Only for what runs
   * no code of a process or a listener, no expression and no `update` of a task, which a variable of the task's is:
   * what such code has told others is not rolled back.
   */
  readonly conflict?: 'repeat'
  /** Acts on all that the body's `processDefinitionKey` names, of whichever tenant; `one tenant`: of one, where the body says which. */
  readonly byKey?: 'one tenant' | 'all'
  /** Starts what the path names: for nodes that have its deployment, where the configuration says so. */
  readonly starts?: 'processDefinition' | 'processDefinitionOfKey'
  /** Shared by all who pass the checks; `tags` name what evicts it. */
  readonly cache?: { readonly seconds: number; readonly tags: readonly string[] }
  /** Tags of cached answers that a success of this operation makes stale. */
  readonly evicts?: readonly string[]
  /** What a success of this operation changes of all that decisions are made by. */
  readonly invalidates?: readonly Change[]
  /** The header `Idempotency-Key` is heeded: with it, the operation is done once. */
  readonly idempotencyKey?: true
  readonly body?: BodyName
  readonly query?: QueryName
  /**
   * The body is `multipart/form-data` instead of JSON. `none`: the engine reads no body, of whatever type; none is looked at
   * here, and none is sent on.
   */
  readonly media?: 'multipart' | 'none'
  /** The engine may hold the request open for the body's `asyncResponseTimeout`. */
  readonly longPoll?: true
  /** The answer holds absolute `links[].href` made from the Host the engine saw. */
  readonly links?: true
  /** Answered in HAL beside JSON, by `Accept`, with other entities embedded (Camunda 7.22). */
  readonly hal?: true
  /** Links by their `rel` that are offered only to whom this is granted. */
  readonly allowedLinks?: Readonly<Record<string, PermissionTerm>>
  /** The body, query string or stored query is a task query: `*Expression` members are code. */
  readonly expressions?: 'refused'
  /** In the engine's order; an entity that is missing goes before. */
  readonly preconditions?: readonly Precondition[]
  /** What the engine loads before it asks for permission, where no check names it. */
  readonly entity?: Entity
  /** What the engine answers where the path's entity is missing. */
  readonly notFound?: NotFoundAnswer
  /** What it answers where that belongs to another's tenant; default: as if it were missing. */
  readonly otherTenant?: OtherTenantAnswer
  /** The gateway answers by itself; nothing is forwarded. */
  readonly answer?: 'engine-names' | 'authorization-check'
}

/** Rows of one tag, by operationId. */
export type Rowset = Readonly<Record<string, Row>>

/** A row with its name and its route taken apart. */
export interface Operation extends Omit<Row, 'route' | 'retry'> {
  readonly id: string
  readonly method: Method
  /** Below the base path, parameters in camelCase: `/task/:id`. */
  readonly template: string
  readonly retry: 'always' | 'unsent'
}

