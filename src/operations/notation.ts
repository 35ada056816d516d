import type { CheckedCommand } from './job-command-names.ts'
import type { LookupName } from './lookup-name.ts'
import type { PermissionName } from './permissions.ts'
import type { RowQueryName } from './row-queries.ts'

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
  | 'versionsOfKey'

/**
 * How the engine shows a refusal: openly (403), as `RestException` that quotes it (500), as a 403 with the message alone
 * (`plain`), as an answer without rows, or in the words of `notFound` (400, 404, and `absent` for any other status there).
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

/** One check of the engine. A member left out makes the check stricter: it applies to every request, and to everybody. */
export interface Check {
  /** Alternatives: the first that a record speaks about decides. Default: none, so without `allOf` only admins pass. */
  readonly anyOf?: readonly PermissionTerm[]
  /** Permissions of which every one must be granted. Default: none. */
  readonly allOf?: readonly PermissionTerm[]
  /** The engine reads variables by it: with `enforceSpecificVariablePermission` it checks other permissions (`variable-permissions.ts`). Default: that setting changes nothing. */
  readonly reads?: 'variables'
  /** Admin users and members of an admin group pass; without `anyOf` nobody else does. Default: they need a record, too. */
  readonly admin?: true
  /** The engine's message lists alternatives ("one of the following permissions") even if there is only one. Default: a single permission has a sentence of its own. */
  readonly wording?: 'alternatives'
  /** The condition under which the engine runs the check. Default: always. */
  readonly when?: When
  /** What the check runs over, once for each. Default: it runs once, on what the request names. */
  readonly each?: Each
  /** How the engine shows the refusal. No default. */
  readonly denied: Denied
  /** What the engine has loaded by this check: a missing one is answered before. Default: nothing is loaded for the check. */
  readonly entity?: Entity
  /** What the engine answers here where the entity is missing. Default: the row's own answer. */
  readonly notFound?: NotFoundAnswer
  /** What it answers here for another tenant's. Default: the row's own answer. */
  readonly otherTenant?: OtherTenantAnswer
  /** The entity is found by a query that shows only what the caller may see: an id that it lacks is asked for as `*`. Default: the id itself is asked for. */
  readonly viaQuery?: 'query'
  /** Entities for which the check is not run. Default: none. */
  readonly exempt?: Exempt
  /** The engine asks for it before it looks at what the body selects. Default: an empty selection is answered before. */
  readonly beforeSelection?: true
  /** The check comes after the engine has done its work (authorization records are read again after they are written). Default: before, so that nothing is done for who is refused. */
  readonly after?: true
}

/** What the engine says before it asks for any permission. */
export interface Precondition {
  readonly when: When
  readonly answer: NotFoundAnswer
  /** Only who is permitted gets this answer. Default: everybody gets it, and nothing is sent on. */
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

/** Which rows of a query the caller may see. A member left out restricts more, or reads more rows before it answers. */
export interface Rows {
  /** What the rows are answered as. Default: a list of them. */
  readonly form?: RowsForm
  /** The engine ignores paging and answers the list whole. Default: it pages, and so does the gateway. */
  readonly paging?: 'ignored'
  /** A row needs one of these. Default: no permission opens a row. */
  readonly anyOf?: readonly PermissionTerm[]
  /** A row needs all of these. Default: none. */
  readonly allOf?: readonly PermissionTerm[]
  /** The engine reads variables by it: with `enforceSpecificVariablePermission` it checks other permissions (`variable-permissions.ts`). Default: that setting changes nothing. */
  readonly reads?: 'variables'
  /** `allOf` speaks of one entity, and one record has to grant all of it: the engine joins the records once. Where revocations count, it decides each by itself. Default: different records may grant them. */
  readonly oneRecord?: true
  /** A second condition that every row must meet as well. Default: none. */
  readonly and?: readonly PermissionTerm[]
  /** The same, where this parameter of the query is true. */
  readonly where?: { readonly query: string; readonly and: readonly PermissionTerm[] }
  /** Rows that everybody sees. Default: none. */
  readonly exempt?: Exempt
  /** The operation that lists the rows, where the answer names only what they have in common. Default: the operation itself lists them. */
  readonly list?: 'getExternalTasks'
  /** How the engine is asked for visible rows alone (`row-queries.ts`). Default: rows are read and filtered. */
  readonly query?: RowQueryName
  /** The engine narrows the query itself, exactly, once conditions are added to it. Default: rows are read and filtered here. */
  readonly narrowed?: 'task query'
  /** A report that can be asked for some definitions only, by `processDefinitionIdIn` or `processDefinitionKeyIn`. Default: it cannot. */
  readonly ofDefinitions?: true
  /** `ignored`: tenants do not restrict these rows. Default: they do. */
  readonly tenants?: 'ignored'
}
