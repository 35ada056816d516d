import { GatewayError, operatorText } from '../../errors.ts'
import { ADDED_VARIABLES } from '../../operations/table.ts'
import { isExpressionMember, isKnownExpression } from '../../policy/validation/query-expressions.ts'
import { bodyValue } from '../../request/body.ts'
import { invalidResponse, jsonIn } from '../../request/engine-request.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { readJson, withNumerals } from '../../request/json.ts'
import { isRecord, stringIn } from '../../request/value.ts'
import { LINK_EXPRESSIONS } from './candidate-users.ts'
import { nameCaller, type NamedCaller } from './name-caller.ts'
import { appendTo, memberBytes, spliceMember, textOf } from './narrow.ts'
import { effectiveQuery, type TaskQueryMembers } from './stored-query.ts'

const NO_CONDITIONS = Buffer.from('{}')
/** Members with which a query for tasks adds data to each task. An engine ignores them when it executes a filter. */
const ADDED_DATA: ReadonlySet<string> = new Set([
  ...Object.keys(ADDED_VARIABLES),
  'withCommentAttachmentInfo',
])

/** A filter that an engine executes. */
export interface StoredFilter {
  /** As the engine shows it. Its numbers keep their digits when it is encoded. */
  readonly query: TaskQueryMembers
  /** The variables that the engine adds to the tasks of a list in the HAL form. */
  readonly variableNames: readonly string[]
}

/**
 * Reads a filter of an engine.
 * @throws GatewayError GW_UPSTREAM_INVALID if it cannot be read without doubt
 */
export function readFilter(filter: Buffer): StoredFilter {
  try {
    const variables = bodyValue(jsonIn(filter), 'properties.variables')
    return {
      query: extendingQueryOf({ body: readJson(memberBytes(filter, 'query') ?? NO_CONDITIONS) }),
      variableNames: Array.isArray(variables)
        ? [...new Set(variables.flatMap((variable: unknown) => stringIn(variable, 'name') ?? []))]
        : [],
    }
  } catch (cause) {
    throw invalidResponse(operatorText`A filter of the engine cannot be read`, cause)
  }
}

/** Returns the query of a request, which extends the stored query. Its numbers keep their digits when it is encoded. */
export function extendingQueryOf(accessRequest: Pick<AccessRequest, 'body'>): TaskQueryMembers {
  const query = withNumerals(accessRequest, 'body')
  return isRecord(query) ? query : {}
}

/** The execution of a filter. */
export interface FilterExecution {
  readonly stored: TaskQueryMembers
  /** The query of the request, which extends the stored query. */
  readonly extending: TaskQueryMembers
  /** Null if the engine knows the caller. */
  readonly caller: NamedCaller | null
}

/** The task query of a filter. The id and the groups of the caller replace the expressions that name the caller. */
export interface ExecutedQuery {
  readonly body: Buffer
  /** True if the stored query names the caller, so that the engine cannot execute it. */
  readonly namesCaller: boolean
}

/**
 * Returns the task query that a secured engine executes for a filter. It lacks the expressions of the request outside of or-blocks,
 * which do not belong to the stored query: see `asRequest`.
 */
export function executedQuery({ stored, extending, caller }: FilterExecution): ExecutedQuery {
  const query = effectiveQuery(without(stored, extending), plainOf(extending))
  const bytes = Buffer.from(JSON.stringify(query))
  const named = caller === null ? null : nameCaller({ bytes, query }, caller, 'whole')
  return { body: named ?? bytes, namesCaller: named !== null }
}

/**
 * Returns the executed query in a form that an engine accepts in a request. An engine refuses expressions outside of or-blocks there,
 * unless it is configured to accept them, so each expression of the stored query moves to an or-block of its own. Expressions of the
 * request stay, and the engine refuses or evaluates them as in every other query.
 * @throws GatewayError GW_ITEMS_NOT_EXACT if an or-block selects other tasks, or if the engine does not show the conditions of an or-block
 */
export function asRequest(body: Buffer, { stored, extending }: FilterExecution): Buffer {
  if (blocksIn(stored).some((block) => !hasCondition(block))) throw new GatewayError('GW_ITEMS_NOT_EXACT')
  let request = body
  for (const [name, text] of expressionsIn(membersIn(body))) {
    assertMovable(name, text)
    request = appendTo(spliceMember(request, name, undefined), 'orQueries', { [name]: text })
  }
  for (const [name, text] of expressionsIn(extending)) request = spliceMember(request, name, text)
  return request
}

/** Returns the members of a query that the gateway has written. */
export function membersIn(body: Buffer): TaskQueryMembers {
  const query: unknown = JSON.parse(textOf(body))
  return isRecord(query) ? query : {}
}

/** Other conditions on candidates apply to the same identity link. The engine refuses a caller without groups in an or-block, too. */
function assertMovable(name: string, text: unknown): void {
  if (LINK_EXPRESSIONS.includes(name) && !isKnownExpression(name, text))
    throw new GatewayError('GW_ITEMS_NOT_EXACT')
}

function expressionsIn(query: TaskQueryMembers): readonly (readonly [string, unknown])[] {
  return Object.entries(query).filter(([name, text]) => isExpressionMember(name) && text !== null)
}

/** Returns a query without the expressions that the request replaces. */
function without(stored: TaskQueryMembers, extending: TaskQueryMembers): TaskQueryMembers {
  const replaced = new Set(expressionsIn(extending).map(([name]) => name))
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !replaced.has(name)))
}

function plainOf(query: TaskQueryMembers): TaskQueryMembers {
  return Object.fromEntries(
    Object.entries(query).filter(([name]) => !isExpressionMember(name) && !ADDED_DATA.has(name)),
  )
}

function blocksIn({ orQueries }: TaskQueryMembers): readonly unknown[] {
  return Array.isArray(orQueries) ? orQueries : []
}

/** Returns whether an or-block shows a condition. An engine ignores an empty block, and does not show each condition. */
function hasCondition(block: unknown): boolean {
  return (
    isRecord(block) &&
    Object.entries(block).some(
      ([name, value]) =>
        name !== 'includeAssignedTasks' && value !== null && value !== false && !isEmptyList(value),
    )
  )
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
