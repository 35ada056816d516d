import type { CheckedCommand } from './job-command-names.ts'
import type { LookupName } from './lookup-name.ts'
import type { PermissionName } from './permissions.ts'
import type { PrefilterName } from './prefilters.ts'

/**
 * How an operation names the id for which a permission is checked:
 * - `*`: any id. The refusal's message contains `'*'`.
 * - `path:`, `query:`, `body:`: a member of the request.
 * - `item:`: a member of each item of the response.
 * - `each.`: a member of each entity that `each` runs over.
 * - `caller`: the id of the caller.
 * - `created.id`: the id of the created entity. A check with only this id runs after the engine has executed the operation: the engine
 *   reads an authorization record again after it has written it.
 * - otherwise: a member of an entity that is looked up by the path's `id` (`task.processDefinitionKey`) or by another member
 *   (`processDefinition(body:processDefinitionId).key`).
 */
export type AttributePath =
  | '*'
  | 'caller'
  | 'created.id'
  | `path:${string}`
  | `query:${string}`
  | `body:${string}`
  | `item:${string}`
  | `each.${string}`
  | `${EntityReference}.${string}`

/** An entity, with the member of the request or of `each` that contains its id. Without a member, the path's `id` is its id. */
export type EntityReference = LookupName | `${LookupName}(${'path' | 'body' | 'query' | 'each'}:${string})`

/** A permission on an id. Without an attribute, the permission is checked without an id, and the refusal's message names no id. */
export type PermissionTerm = PermissionName | `${PermissionName} ${AttributePath}`

/** A condition on the request under which the engine runs a check. */
export type CheckCondition =
  | `body:${string} given and body:${string} is true`
  | `body:${string} absent and body:${string} absent and body:${string} is not true`
  | `body:${string} is true`
  | `body:${string} given`
  | `body:${string} absent`
  | `query:${string} given`
  | `query:${string} is another user`
  | `query:${string} is true`
  | `body:${string} of another tenant`
  | 'no definition given'
  | 'the execution is no instance'
  | 'the incident was not created by a caller'
  | 'the job has an instance'
  | 'the job has only a definition'
  | `the job runs ${CheckedCommand}`
  | `the job runs ${CheckedCommand} or ${CheckedCommand}`
  | 'the job runs an unknown command'
  | 'the owner of the filter changes'
  | 'the task belongs to a case'
  | 'the task belongs to a process'
  | 'the worker does not hold the task'
  | EngineCondition

/** A condition that only the engine can evaluate. The gateway sends requests to the engine to learn the result. */
export type EngineCondition = 'the plan is valid' | 'nothing is left active'

/** The ids or entities that a check runs over. It runs once for each of them. */
export type CheckTargetSet =
  | `body:${string}[]`
  | `query:${string}[]`
  | 'conditionalStarts'
  | 'correlatedDefinitions'
  | 'correlatedExecutions'
  | 'definitions'
  | 'externalTasks'
  | 'jobDefinitions'
  | 'jobHistoricInstances'
  | 'jobInstances'
  | 'jobJobs'
  | 'modifiedInstances'
  | 'processInstances'
  | 'restartedInstances'
  | 'signalStarts'
  | 'signalSubscriptions'
  | 'unknown'
  | 'versionsOfKey'

/**
 * How the engine responds if a check refuses:
 * - `403`: with the refusal.
 * - `500`: with a `RestException` that quotes the refusal.
 * - `plain`: with a 403 that contains only the message.
 * - `empty`: with a response without items.
 * - `400`, `404`, `absent`: with the text of `notFound`. `absent` is used if that text has any other status.
 */
export type DenialResponse = 400 | 403 | 404 | 500 | 'plain' | 'empty' | 'absent'

/**
 * The engine's response if an entity is missing, or if the engine hides it: `404 Type: message`, or `404 Type 0: message` if the
 * response sets `code`. Placeholders in the message:
 * - `{id}`: a path parameter.
 * - `{a.b}`: a member of the body, of the entity `a` (`a(body:id)` if another member contains its id), or of `each`.
 * - `{a?b:c}`: `b` if the body's `a` is true, otherwise `c`.
 * - `{created}`: the id of the entity that was just created.
 */
export type NotFoundResponse = `${number} ${string}: ${string}` | '200 []' | '204'

/**
 * The engine's response if an entity belongs to a tenant of which the caller is not a member. The engine sends `200 []` after the
 * checks and every other response before them. `ignored`: the engine does not check the tenant.
 */
export type CrossTenantResponse = NotFoundResponse | 'ignored'

/** A kind of entity that belongs to nothing that an authorization record could name. */
export type ExemptEntity = 'case' | 'no definition' | 'no execution' | 'no category and no definition'

/** The name of a check to which a validation rule refers. */
export type CheckName = 'create' | 'read' | 'target definition' | 'update'

/** One check of the engine. An absent field makes the check stricter: it then applies to every request and every caller. */
export interface Check {
  /** The name by which a validation rule of the body or the query refers to the check. Default: no rule refers to it. */
  readonly name?: CheckName
  /** Alternatives. The first one that an authorization record grants or revokes decides. Default: none. Without `allOf` only admins then pass. */
  readonly anyOf?: readonly PermissionTerm[]
  /** Permissions that must all be granted. Default: none. */
  readonly allOf?: readonly PermissionTerm[]
  /**
   * The check guards the reading of variables. An engine with `enforceSpecificVariablePermission` checks other permissions for it
   * (`variable-permissions.ts`). Default: that setting changes nothing.
   */
  readonly reads?: 'variables'
  /** Admin users and members of an admin group pass. Without `anyOf` all other callers are refused. Default: admins need a record as well. */
  readonly admin?: true
  /** The condition under which the engine runs the check. Default: always. */
  readonly when?: CheckCondition
  /** The ids or entities that the check runs over, once for each. Default: it runs once, on the entity that the request names. */
  readonly each?: CheckTargetSet
  /** How the engine responds if the check refuses. No default. */
  readonly denied: DenialResponse
  /** The entity that the engine loads before this check. If it is missing, the engine responds before the check. Default: none. */
  readonly loads?: EntityReference
  /** The engine's response if the entity of this check is missing. Default: the `notFound` of the operation. */
  readonly notFound?: NotFoundResponse
  /** The engine's response if the entity of this check belongs to another tenant. Default: the `crossTenant` of the operation. */
  readonly crossTenant?: CrossTenantResponse
  /**
   * The engine finds the entity by a query that returns only what the caller may see. If the entity lacks the id that a permission
   * names, the permission is checked on `*`. Default: the permission is checked on the id itself.
   */
  readonly foundBy?: 'query'
  /** Entities for which the check is not run. Default: none. */
  readonly exempt?: ExemptEntity
  /** The engine runs the check before it evaluates the queries of the body. Default: the response to an empty selection precedes the check. */
  readonly beforeSelection?: true
}

/** A check of the compiled table. The entry of an operation cannot set these fields. */
export interface OperationCheck extends Check {
  /** The check runs after the engine has executed the operation. Default: before it, so that a refused request has no effect. */
  readonly after?: true
  /**
   * The engine's message lists alternatives ("one of the following permissions") even if the check has only one permission
   * (`variable-permissions.ts`). Otherwise, the message has a different sentence for a single permission.
   */
  readonly wording?: 'alternatives'
}

/** A condition under which the engine refuses a request before it checks any permission. */
export interface Precondition {
  readonly when: CheckCondition
  readonly denied: NotFoundResponse
  /** Only a permitted caller gets this response. Default: every caller gets it, and the request is not forwarded. */
  readonly afterPermission?: true
}

/**
 * The form of a response that is not a list of the items:
 * - `count`: a count. The path before `/count` lists the items.
 * - `single`: one item. The path that ends in `/list` lists the items. The response is 204 for no item and an error for several.
 * - `groups`: `{ groups, groupUsers }`.
 * - `topic names`: the distinct topics of external tasks.
 * - `group counts`: the number of tasks for each candidate group.
 * - `locks`: items that the engine locks while it responds. Nothing may be left out of the response afterwards.
 * - `instance counts`: statistics whose items the engine counts.
 * - `report`: a summary by the engine. The operation's checks decide about it as a whole, and only tenants restrict the items in it.
 */
export type ResponseForm =
  | 'count'
  | 'single'
  | 'groups'
  | 'topic names'
  | 'group counts'
  | 'locks'
  | 'instance counts'
  | 'report'

/** The items of a query that the caller may see. An absent field restricts more, or makes the gateway read more items before it responds. */
export interface ItemRestriction {
  /** The form of the response. Default: a list of the items. */
  readonly form?: ResponseForm
  /** The engine ignores paging and returns the whole list. Default: the engine and the gateway page the list. */
  readonly paging?: 'ignored'
  /** An item needs at least one of these permissions. Default: no permission makes an item visible. */
  readonly anyOf?: readonly PermissionTerm[]
  /**
   * An item needs every one of these permissions. If they are about the same entity, one authorization record must grant all of them,
   * because the engine joins the records once. If revocations apply to the caller, the engine decides each permission separately.
   * Default: none.
   */
  readonly allOf?: readonly PermissionTerm[]
  /**
   * The items are variables. An engine with `enforceSpecificVariablePermission` checks other permissions for them
   * (`variable-permissions.ts`). Default: that setting changes nothing.
   */
  readonly reads?: 'variables'
  /** A second condition that every item must meet: one of these permissions, if the query parameter in `when` is true. Default: none. */
  readonly and?: { readonly anyOf: readonly PermissionTerm[]; readonly when?: `query:${string} is true` }
  /** Items that every caller sees. Default: none. */
  readonly exempt?: ExemptEntity
  /**
   * How the gateway requests only the visible items: an entry of `PREFILTERS`, or
   * - `task query`: it adds conditions to the task query that select exactly the visible items.
   * - `definitions of the report`: it restricts the report by `processDefinitionIdIn` or `processDefinitionKeyIn`.
   *
   * Default: the gateway reads all items and filters them, and cannot restrict a report.
   */
  readonly prefilter?: PrefilterName | 'task query' | 'definitions of the report'
  /**
   * True if the engine executes the task query of a filter, extended by the query of the request. Default: the request contains the
   * whole query.
   */
  readonly storedQuery?: true
  /** `ignored`: tenants do not restrict these items. Default: they do. */
  readonly crossTenant?: 'ignored'
}
