import type { CheckedCommand } from './job-command-names.ts'
import type { LookupName } from './lookup-name.ts'
import type { PermissionName } from './permissions.ts'

/**
 * How a row names the id that a permission is asked for:
 * `*` any (the message says `'*'`), `path:` `query:` `body:` a member of the request, `row:` a member of each answered row,
 * `each.` a member of what `each` runs over, `caller`, `created.id`, or a member of an entity that is looked up: by the
 * path's `id` (`task.processDefinitionKey`) or by another member (`processDefinition(body:processDefinitionId).key`).
 */
export type AttributePath =
  | '*'
  | 'caller'
  | 'created.id'
  | `path:${string}`
  | `query:${string}`
  | `body:${string}`
  | `row:${string}`
  | `each.${string}`
  | `${Entity}.${string}`

/** An entity by the member of the request, or of what `each` runs over, that names it; without one by the path's `id`. */
export type Entity = LookupName | `${LookupName}(${'path' | 'body' | 'query' | 'each'}:${string})`

/** One permission on one id; without a fact it is asked without an id, and the message names none. */
export type PermissionTerm = PermissionName | `${PermissionName} ${AttributePath}`

/** A condition on the request under which the engine runs a check. */
export type When =
  | `body:${string} given and body:${string} is true`
  | `body:${string} absent and body:${string} absent and body:${string} is not true`
  | `body:${string} is true`
  | `body:${string} given`
  | `body:${string} absent`
  | `query:${string} given`
  | `query:${string} is another user`
  | `body:${string} of another tenant`
  | 'no definition given'
  | 'the execution is no instance'
  | 'the incident was not created by a caller'
  | 'the job has an instance'
  | 'the job has only a definition'
  | `the job runs ${CheckedCommand}`
  | `the job runs ${CheckedCommand} or ${CheckedCommand}`
  | 'the job runs an unknown command'
  | 'the task belongs to a case'
  | 'the task belongs to a process'
  | 'the worker does not hold the task'
  | EngineCondition

/** A condition that only the engine knows. The gateway asks it. */
export type EngineCondition = 'the plan is valid' | 'nothing is left active'

/** What a check runs over, once for each. */
export type Each =
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

/**
 * How the engine shows a refusal: openly (403), as `RestException` that quotes it (500), as a 403 with the message alone
 * (`plain`), as an answer without rows, or in the words of `absent` (400, 404, and any other status there).
 */
export type Denied = 400 | 403 | 404 | 500 | 'plain' | 'empty' | 'absent'

/**
 * The engine's answer where an entity is missing (and where it hides one): `404 Type: message`, `404 Type 0: message`
 * where it sets `code`. `{id}` is a path parameter, `{a.b}` a member of the body, of the entity `a` (`a(body:id)` by another member), of `each`, `{a?b:c}` `b` where
 * the body's `a` is true and `c` where not, `{created}` the id just written.
 */
export type NotFoundAnswer = `${number} ${string}: ${string}` | '200 []' | '204'

/** The engine's answer for what belongs to a tenant that the caller is no member of: `200 []` after the checks, all else before them; `ignored`: it does not look. */
export type OtherTenantAnswer = NotFoundAnswer | 'ignored'

/** What belongs to nothing that a record could name. */
export type Exempt = 'case' | 'no definition' | 'no execution' | 'no category and no definition'

/** One check of the engine. `anyOf`: the first answer that is not "don't know" decides; `allOf`: every one must be granted. */
export interface Check {
  readonly anyOf?: readonly PermissionTerm[]
  readonly allOf?: readonly PermissionTerm[]
  /** Members of an admin group and admin users pass; without `anyOf` nobody else does. */
  readonly admin?: true
  readonly when?: When
  readonly each?: Each
  readonly denied: Denied
  /** What the engine has loaded by the check before: missing, it comes before this one. */
  readonly entity?: Entity
  /** For this check alone, before the row's own. */
  readonly notFound?: NotFoundAnswer
  readonly otherTenant?: OtherTenantAnswer
  /** The entity is found by a query that shows only what the caller may see: an id that it lacks is asked for as `*`. */
  readonly viaQuery?: 'query'
  /** Entities that everybody finds. */
  readonly exempt?: Exempt
  /** The engine asks for it before it looks at what the body selects. */
  readonly beforeSelection?: true
  /** The check comes after the engine has done its work (authorization records are read again after they are written). */
  readonly after?: true
}

/** What the engine says before it asks for any permission. */
export interface Precondition {
  readonly when: When
  readonly answer: NotFoundAnswer
  /** It says so only to who is permitted. */
  readonly afterPermission?: true
}

/**
 * `count`: the path before `/count` lists them. `single`: the path with `/list` does; none is 204, several are an error.
 * `groups`: `{ groups, groupUsers }`. `topic names`: the distinct topics of external tasks. `group counts`: tasks counted by candidate group. `locks`: rows are locked as they
 * are answered, so nothing may be left out afterwards. `instance counts`: the rows are counted inside the engine. `report`: summed up
 * there, by checks that are the row's own; tenants alone restrict it.
 */
export type RowsForm =
  | 'count'
  | 'single'
  | 'groups'
  | 'topic names'
  | 'group counts'
  | 'locks'
  | 'instance counts'
  | 'report'

/** Which rows of a query the caller may see. `exempt`: rows that everybody sees. */
export interface Rows {
  /** What the rows are answered as, where it is not a list of them. */
  readonly form?: RowsForm
  /** The list is always answered whole. */
  readonly paging?: 'ignored'
  readonly anyOf?: readonly PermissionTerm[]
  readonly allOf?: readonly PermissionTerm[]
  /** `allOf` speaks of one entity, and one record has to grant all of it: the engine joins the records once. Where revocations count, it decides each by itself. */
  readonly oneRecord?: true
  /** A second condition that every row must meet as well. */
  readonly and?: readonly PermissionTerm[]
  /** The same, where this parameter of the query is true. */
  readonly where?: { readonly query: string; readonly and: readonly PermissionTerm[] }
  readonly exempt?: Exempt
  /** The engine narrows the query itself, exactly, once conditions are added to it. */
  readonly narrowed?: 'task query'
  /** A report that can be asked for some definitions only, by `processDefinitionIdIn` or `processDefinitionKeyIn`. */
  readonly ofDefinitions?: true
  /** Tenants do not restrict these rows. */
  readonly tenants?: 'ignored'
}
