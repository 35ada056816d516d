import type { BodySelectors, CompiledSelectors } from './body-selectors.ts'
import type { ActsOnKey } from './acts-on-key.ts'
import type { CachedContent, CachePolicy } from './cached-content.ts'
import type { NotFoundResponse, PermissionTerm, Check, EntityReference, OperationCheck, Precondition, CrossTenantResponse, ItemRestriction } from './notation.ts'
import type { OpenName } from './open-names.ts'
import type { Release } from './published/releases.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/** Whether an operation only reads, or also changes something at the engine. */
export type Effect = 'read' | 'write'

/** The name of a body schema in the engine's published API. `src/policy/validation` resolves it. */
export type BodyName =
  | 'AuthorizationCreateDto'
  | 'AuthorizationUpdateDto'
  | 'BasicUserCredentialsDto'
  | 'CorrelationMessageDto'
  | 'EvaluateDecisionDto'
  | 'ExecutionTriggerDto'
  | 'FetchExternalTasksDto'
  | 'HistoricExternalTaskLogQueryDto'
  | 'JobDefinitionsSuspensionStateDto'
  | 'JobSuspensionStateDto'
  | 'MigrationExecutionDto'
  | 'MigrationPlanDto'
  | 'MigrationPlanGenerationDto'
  | 'ProcessInstanceSuspensionStateDto'
  | 'SignalDto'
  | 'StartProcessInstanceFormDto'
  | 'TaskDto'
  | 'TaskQueryDto'
  | 'VariableValueDto'

/**
 * A form of a response besides JSON:
 * - `hal`: HAL with embedded definitions, users, groups and case definitions (Camunda 7.22).
 * - `hal with variables`: HAL that also embeds variables of the items if the filter names any.
 */
export type AcceptedForm = 'csv' | 'hal' | 'hal with variables'

/** The name of the rules for a query string. `src/policy/validation` resolves it. */
export type QueryName =
  | 'ActivityStatisticsQuery'
  | 'AuthorizationCheckQuery'
  | 'DefinitionStatisticsByKeyQuery'
  | 'DefinitionStatisticsQuery'
  | 'EventSubscriptionQuery'
  | 'SchemaLogQuery'
  | 'TaskQuery'
  | 'TopicNamesQuery'

/** The operation that lists the items of a response in the form `topic names`. */
export const LIST_OF_TOPICS = 'getExternalTasks'

/**
 * Members of a query that add variables to each task of a list, with the operation that reads them. The engine runs the checks of that
 * operation for each task.
 */
export const ADDED_VARIABLES = {
  withTaskVariablesInReturn: 'getTaskVariables',
  withTaskLocalVariablesInReturn: 'getTaskLocalVariables',
} as const

/** The operation that counts the items of a filter. */
export const COUNT_OF_FILTER = 'executeFilterCount'

/**
 * The kinds of changes that a write makes: authorization records (`records`); users and their passwords, groups and tenants
 * (`identity`); the engine's login attempts and lock of a user (`lockouts`).
 */
export type ChangeKind = 'records' | 'identity' | 'lockouts'

/**
 * A change of permissions or identities. Each id has one place or several, separated by spaces: `path:id`, `body:profile.id`,
 * `answer:id`. The first place with an id counts.
 */
export interface AuditedChange {
  readonly action: 'create' | 'update' | 'delete' | 'add' | 'remove' | 'set password' | 'unlock'
  readonly authorization?: string
  readonly user?: string
  readonly group?: string
  readonly tenant?: string
}

/**
 * One entry of the table: the description of one operation. The comment of each field describes its meaning and its default. The
 * default is the cautious value. If a field has no cautious value, its comment names the check that requires the field
 * (docs/architecture.md).
 */
export interface OperationEntry {
  /** The method and the path below the base path, as in the engine's published API, with parameters in camelCase. No default. */
  readonly route: `${Method} /${string}`
  /**
   * The releases that have the operation, if no published document of Camunda has it. If the configuration names another release, the
   * gateway refuses the operation. `unpublished`: every release has it. Default: the releases of the documents that publish the
   * operation.
   */
  readonly only?: readonly Release[] | 'unpublished'
  /** The checks that the engine runs, in its order. If empty, every authenticated caller passes. No default. */
  readonly checks: readonly Check[]
  /**
   * The items of the response that the caller may see. Default: the response has no items, and only the checks restrict it. This
   * default is not cautious if `checks` is empty, so a test lists the operations that are open to every caller.
   */
  readonly items?: ItemRestriction
  /**
   * The response is a list that the engine pages, although no `items` restrict it. Default: only a list with `items` is paged. A test
   * compares the lists with the published API.
   */
  readonly paging?: true
  /**
   * Members of the body that select entities:
   * - a query, with the member that accepts ids instead. The gateway replaces the query by the ids of the entities that the caller may
   *   see.
   * - ids, with the lookup of the engine: `queryJobs(processInstanceIds[]).processInstanceId`. The engine ignores ids that do not exist
   *   or belong to another tenant, and so does the gateway.
   *
   * Default: the body is forwarded unchanged. A test compares the members with the published API.
   */
  readonly selectors?: BodySelectors
  /** The engine's response if these queries find no entity, which precedes the checks. Default: the checks run first and their refusal is sent. */
  readonly empty?: NotFoundResponse
  /**
   * Whether the operation only reads. A read is retried even after bytes were sent. A write is retried only if no byte was sent, because
   * it must not be executed twice. Default: GET and OPTIONS read, and so does a POST with `items`, unless it locks the items. Every other
   * operation writes. The gateway does not start if the effect contradicts another field.
   */
  readonly effect?: Effect
  /**
   * `repeat`: the request is repeated if the engine reports that another transaction was faster and this one was rolled back. This
   * is only safe for an operation that runs no code of a process or a listener, no expression, and no `update` of a task. Setting a
   * variable of a task is such an `update`. A rollback does not undo what such code has sent to other systems. Default: the engine's
   * response is passed on.
   */
  readonly conflict?: 'repeat'
  /**
   * The definitions that the operation acts on. Required if the path or a check names a definition by its key, because the tenant
   * check depends on it: without it, the gateway does not start. Default: the operation names no definition by its key.
   */
  readonly actsOnKey?: ActsOnKey
  /**
   * The operation starts the definition that the path names by id or by key. With `deploymentAware` the request goes to nodes that
   * have the deployment. Default: it goes to any node.
   */
  readonly starts?: 'processDefinition' | 'processDefinitionOfKey'
  /**
   * The response is cached and shared by all callers that pass the checks. Only a response with this content is stored.
   * `cached-content.ts` has the time and the tags of each content. Default: never cached, because the response may differ between
   * callers.
   */
  readonly cache?: CachedContent
  /**
   * The kinds of data that a successful operation changes. Before the gateway sends the response, it evicts the cached responses that
   * depend on `deployments`, and reads data of the other kinds again. Default: none. A change is then noticed at the next refresh, and
   * cached responses stay for their time. A test requires the field.
   */
  readonly changes?: readonly (ChangeKind | 'deployments')[]
  /**
   * The change that the audit line describes, if the operation changes authorization records, users, groups, tenants or memberships.
   * Default: the line names no change. A test requires the field.
   */
  readonly auditedChange?: AuditedChange
  /**
   * The place of the created entity's id, for the audit log: in the response or in the body. `[]` is each item of a list. Default:
   * the audit log contains no such id. A test requires the field.
   */
  readonly creates?: `${'answer' | 'body'}:${string}`
  /**
   * The record that a secured engine writes for the user together with the created entity. `answer:owner` is the owner in the response.
   * Default: the engine writes none.
   */
  readonly defaultRecord?: {
    readonly resource: 'DEPLOYMENT' | 'FILTER'
    readonly permissions: readonly string[]
    readonly user: 'caller' | 'answer:owner'
  }
  /** The resource of the path's entity, which the operation deletes. A secured engine removes the records on it. Default: none are removed. */
  readonly removesRecords?: 'DEPLOYMENT' | 'FILTER'
  /** With the header `Idempotency-Key` the operation is executed once. Default: the header has no effect, and no response is stored. */
  readonly idempotencyKey?: true
  /**
   * The schema of the JSON body, or
   * - `multipart`: the body is `multipart/form-data`.
   * - `none`: the engine reads no body of any type. The gateway neither parses nor forwards one.
   *
   * Default: any JSON object or list, which the engine validates. Hazards are refused in either case. A type that the operation does
   * not take is refused with 415.
   */
  readonly body?: BodyName | 'multipart' | 'none'
  /** Each node of an engine has its own response, so the responses of two nodes are not compared. Default: they are compared. */
  readonly perNode?: true
  /** The rules for the query string. Default: only the types of published parameters are checked. */
  readonly query?: QueryName
  /**
   * `none`: the operation creates and unlocks no external task. Default: it may do so, and the gateway then makes the other nodes
   * of the engine check their long polls.
   */
  readonly newTasks?: 'none'
  /**
   * The response has absolute `links[].href`, which the engine makes from the Host and the engine name of the request; the gateway
   * replaces both. Permissions by the `rel` of a link: without its permission, the link is left out. Default: the response is passed on.
   * A test compares the entries with the published API and with a running engine.
   */
  readonly links?: true | Readonly<Record<string, PermissionTerm>>
  /** The form of the response if `Accept` prefers it to JSON. Default: only JSON. A test requires the field for HAL. */
  readonly accept?: AcceptedForm
  /**
   * The body or the query string is a task query. The engine runs its members `*Expression` as code, so only known expressions are
   * accepted. `checked with filter`: the engine adds the query of the filter that the path names, which is checked too. Default: no
   * such members are looked for. A test requires the field.
   */
  readonly expressions?: 'checked' | 'checked with filter'
  /** The conditions under which the engine refuses before it checks permissions, in its order. A missing entity precedes them. Default: none. */
  readonly preconditions?: readonly Precondition[]
  /**
   * The entity that the engine loads before it checks permissions, if no check names it. Its tenant is checked. Default: none. The
   * gateway does not start without the field if the path names an entity that may belong to a tenant.
   */
  readonly loads?: EntityReference
  /** The engine's response if the path's entity is missing. Default: 403 `GW_CHECK_NOT_EXACT`. The request is never forwarded. */
  readonly notFound?: NotFoundResponse
  /** The engine's response if the entity belongs to another tenant. Default: the same as if it were missing. */
  readonly crossTenant?: CrossTenantResponse
  /**
   * The name under which the configuration opens the operation. An open operation needs no credentials, and its checks do not run.
   * Default: the operation cannot be opened.
   */
  readonly open?: OpenName
  /**
   * A handler of its own, because the gateway knows more than an engine or must hold the request:
   * - `engine names`, `authorization check`: always. The request is never forwarded.
   * - `password check`: if the operation is open. The gateway verifies the password, as it does for Basic.
   * - `long poll`: the engine may hold the request open for the body's `asyncResponseTimeout`, on a separate connection.
   * - `item counts`: if the query parameter `itemCount` is set. The gateway counts the items of each filter in the response.
   * - `added variables`: if the query has a member of `ADDED_VARIABLES`. The gateway reads the variables, unless the engine may create
   *   objects. The first item of a list whose variables are refused refuses the whole list.
   * - `api document`, `api page`: always. The gateway describes the operations of which the caller may be permitted some request.
   * - `own profile`: if the engine does not know the caller. This can be a user of `users.yaml` or the owner of a token.
   *
   * Default: the engine responds. Tests require `item counts` and `added variables`.
   */
  readonly handler?: 'engine names' | 'authorization check' | 'password check' | 'own profile' | 'long poll' | 'item counts' | 'added variables' | 'api document' | 'api page'
}

/** Operations of one tag, by operationId. */
export type TagOperations = Readonly<Record<string, OperationEntry>>

/** Operations that one call writes, with their operationIds. */
export type WrittenOperations = readonly (readonly [id: string, entry: OperationEntry])[]

/**
 * A tag of the table. A tag with operations that calls write is a list. It is not one object with spreads, because a spread
 * silently replaces an operation that is written twice.
 */
export type Tag = TagOperations | readonly (TagOperations | WrittenOperations)[]

/** An entry of the table, with its operationId and with its route split into method and path. */
export interface Operation extends Omit<OperationEntry, 'route' | 'effect' | 'only' | 'checks' | 'cache' | 'body' | 'selectors'> {
  readonly id: string
  /** The releases that have the operation. Default: all. */
  readonly only?: readonly Release[]
  /** The engine serves the operation, but its published API does not list it. */
  readonly unpublished?: true
  readonly checks: readonly OperationCheck[]
  readonly cache?: CachePolicy
  readonly selectors?: CompiledSelectors
  /** The schema of the JSON body. */
  readonly body?: BodyName
  /** The kind of the body if it is not JSON. */
  readonly media?: 'multipart' | 'none'
  readonly method: Method
  /** The path below the base path, with parameters in camelCase: `/task/:id`. */
  readonly template: string
  readonly effect: Effect
}

