import type { ActsOn } from './acts-on.ts'
import type { NotFoundAnswer, PermissionTerm, Check, Entity, Precondition, OtherTenantAnswer, Rows } from './notation.ts'
import type { OpenName } from './open-names.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/** A body schema by its name in the engine's published API; policy resolves it. */
export type BodyName =
  | 'AuthorizationCreateDto'
  | 'AuthorizationDto'
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

/** The content of a cached response: an image, a JSON object with the XML of a definition, or a JSON list of names. */
export type CachedContent = 'diagram' | 'model' | 'names'

/** A query-string schema; policy resolves it. */
export type QueryName =
  | 'ActivityStatisticsQuery'
  | 'AuthorizationCheckQuery'
  | 'EventSubscriptionQuery'
  | 'HistoricDecisionInstanceOptions'
  | 'HistoryCleanupOptions'
  | 'Paging'
  | 'SchemaLogQuery'
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

/**
 * One row of the table: what the gateway knows of one operation. Each column says what it is, and what it means to leave it
 * out. The default is the cautious value; where there is none, the column says what asks for it (docs/architecture.md).
 */
export interface Row {
  /** Method and path below the base path, as the engine's published API has them; parameters are in camelCase. No default. */
  readonly route: `${Method} /${string}`
  /** The engines that have the operation; forks are Operaton, CIB seven, Fluxnova, EximeeBPMS and OrqueIO. Default: all, as Camunda 7.22 publishes it; an engine without it answers 404 itself. */
  readonly only?: 'CIB seven' | 'Camunda 7.23 and later, and forks'
  /** The engine serves the operation, and its published API does not list it. Default: the API lists it, or `only` names the engines. */
  readonly unpublished?: true
  /** The permissions that the engine asks for, in its order. No default. Empty: every authenticated caller passes. */
  readonly checks: readonly Check[]
  /**
   * Which rows of the answer the caller sees. Default: the answer has no rows, and the checks alone restrict it. Not cautious where
   * `checks` is empty: a test lists the rows that are open to everybody.
   */
  readonly rows?: Rows
  /** The operation by which the items of each answered filter are counted, where the query's `itemCount` asks for it. Default: counts pass as the engine makes them; a test asks for the column. */
  readonly itemCount?: 'executeFilterCount'
  /**
   * Members of the query, or parameters, that add data of another operation to each item: the engine runs the checks of that
   * operation for each item of the page, and refuses the list with the first refusal. Default: none. A test lists the members of
   * the published queries that add data.
   */
  readonly itemChecks?: Readonly<Record<string, string>>
  /**
   * Members of the body that select by a query, each with the member that takes ids in its place: the engine gets the ids of what
   * the caller sees. Default: the body holds no such query. A test compares the members with the published API.
   */
  readonly resolvesQueries?: { readonly [Q in Selector]?: string }
  /** Members of the body whose ids the engine looks for by a query; what is not there or is another tenant's it leaves out, and so does the gateway. Default: ids are sent as they are; the same test asks for it. */
  readonly resolvesIds?: Readonly<Record<string, Finder>>
  /** What the engine answers, before it asks for permission, when those queries find nothing. Default: the permission is asked for, and the refusal is shown. */
  readonly empty?: NotFoundAnswer
  /** `always`: a pure read, repeated even after bytes were sent. Default: repeated only if nothing was sent, for a write must not be done twice. */
  readonly retry?: 'always'
  /**
   * `repeat`: repeated when the engine says that another transaction was quicker and this one was rolled back. Only for what runs
   * no code of a process or a listener, no expression and no `update` of a task, which a variable of the task's is:
   * what such code has told others is not rolled back. Default: the engine's answer is passed on.
   */
  readonly conflict?: 'repeat'
  /** The definitions that the operation acts on. Required if the path or a check names a definition by its key: the start refuses a row without it, because the tenant check follows from it. Default: the operation names no definition by its key. */
  readonly actsOn?: ActsOn
  /** Starts the definition that the path names, by id or by key: with `deploymentAware` it goes to nodes that have the deployment. Default: any node. */
  readonly starts?: 'processDefinition' | 'processDefinitionOfKey'
  /**
   * How long the response is cached and shared by all callers who pass the checks. `tags` name what evicts it. Only
   * a response with the content `content` is stored. Default: never cached, because others might get another response.
   */
  readonly cache?: {
    readonly seconds: number
    readonly tags: readonly string[]
    readonly content: CachedContent
  }
  /** Tags of cached answers that a success makes stale. Default: none; the cached answer then stays for `cache.seconds`, and a test asks for the column. */
  readonly evicts?: readonly string[]
  /** What a success changes of records and users, which are then read anew before the caller is answered. Default: nothing, until the next refresh; a test asks for the column. */
  readonly invalidates?: readonly Change[]
  /** Where the id of what a success makes stands, for the audit: in the answer or in the body; `[]` is each of a list. Default: the audit names none; a test asks for the column. */
  readonly creates?: `${'answer' | 'body'}:${string}`
  /** With the header `Idempotency-Key` the operation is done once. Default: the header has no meaning here, and no answer is stored. */
  readonly idempotencyKey?: true
  /** The schema of the JSON body. Default: any JSON object or list, which the engine judges; hazards are refused all the same. */
  readonly body?: BodyName
  /** The schema of the query string. Default: any, which the engine judges. */
  readonly query?: QueryName
  /**
   * `multipart`: the body is `multipart/form-data`. `none`: the engine reads no body, of whatever type; none is looked at here,
   * and none is sent on. Default: JSON, and every other type is 415.
   */
  readonly media?: 'multipart' | 'none'
  /** The engine may hold the request open for the body's `asyncResponseTimeout`. Default: the timeouts of other requests count. */
  readonly longPoll?: true
  /** `none`: a success creates and unlocks no external task. Default: it may, and other nodes of the engine are nudged to check their long polls. */
  readonly newTasks?: 'none'
  /** The answer holds absolute `links[].href` made from the Host that the engine saw; they are written anew. Default: the answer is passed on. */
  readonly links?: true
  /** Answered in HAL beside JSON, by `Accept`, with other entities embedded (Camunda 7.22). Default: only JSON; a test asks for the column. */
  readonly hal?: true
  /** The response is CSV instead of JSON if the client prefers it in `Accept`. Default: only JSON. */
  readonly csv?: true
  /** The HAL response embeds variables of the items as well, if the filter names some. Default: it embeds definitions, users, groups and case definitions only. */
  readonly halVariables?: true
  /** Links of the answer by their `rel`, each with the permission without which it is left out. Default: links pass. */
  readonly allowedLinks?: Readonly<Record<string, PermissionTerm>>
  /** The body, query string or stored query is a task query, whose members `*Expression` are code: they are refused. Default: not looked for; a test asks for the column. */
  readonly expressions?: 'refused'
  /** What the engine refuses before it asks for permission, in its order; a missing entity comes first. Default: nothing. */
  readonly preconditions?: readonly Precondition[]
  /** The entity that the engine loads before it asks for permission, where no check names it: its tenant is checked. Default: none; the start asks for it where the path names what may be of a tenant. */
  readonly entity?: Entity
  /** What the engine answers where the path's entity is missing. Default: 403 `GW_CHECK_NOT_EXACT`; the request is never sent on. */
  readonly notFound?: NotFoundAnswer
  /** What the engine answers where the entity belongs to another tenant. Default: as if it were missing. */
  readonly otherTenant?: OtherTenantAnswer
  /** The name by which the configuration opens the operation: then it is for everybody, without credentials, and its checks are not asked. Default: never. */
  readonly open?: OpenName
  /** Where it is open the gateway answers by itself: what of passwords it would say of Basic. Default: as where it is not open. */
  readonly openAnswer?: 'password-verdict'
  /** What a caller hears about himself where the engine does not know him: users of files and tokens need not stand there. */
  readonly selfAnswer?: 'profile'
  /** The gateway answers by itself, and nothing is sent on. Default: the engine answers. */
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

