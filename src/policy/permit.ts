import { EngineVerdict, GatewayError } from '../errors.ts'
import type { Operation } from '../operations/table.ts'
import type { Asked } from './asked.ts'
import type { Authorize, AuthorizeOptions, Verdict } from './authorize.ts'
import { createAuthorize } from './authorize.ts'
import type { CompiledRows, Scope } from './rows.ts'
import { usesRevokes } from './records.ts'
import { compileRows, idsGranted, scopeOf } from './rows.ts'
import type { Visible } from './task-query.ts'

/** What a row-restricted query may answer. */
export type RowsVerdict =
  | { readonly rows: 'all' }
  | { readonly rows: 'none'; readonly answer: EngineVerdict }
  | { readonly rows: 'narrowed'; readonly visible: Visible }
  | { readonly rows: 'refused'; readonly refusal: GatewayError }

/** All that the records say about one operation. */
export interface Permit extends Authorize {
  /** For queries; null where the operation answers no rows of its own. */
  readonly rows: ((asked: Asked, wantsHal: boolean) => RowsVerdict) | null
  /** For a body that selects rows by a query: whether that query may run as it is. */
  readonly selects: (asked: Asked) => Verdict
}

/** Prepares everything the policy says about an operation. @throws Error on a row the notation does not know */
export function createPermit(operation: Operation, options: AuthorizeOptions): Permit {
  const rows = operation.rows === undefined ? null : compileRows(operation.rows, options)
  const selects = operation.selects === undefined ? null : compileRows(operation.selects, options)
  return {
    ...createAuthorize(operation, options),
    rows:
      rows === null ? null : (asked, wantsHal) => rowsVerdict({ operation, rows, options }, asked, wantsHal),
    selects: (asked) => (selects === null ? { permitted: true } : selectsVerdict(selects, asked, options)),
  }
}

interface RowsParts {
  readonly operation: Operation
  readonly rows: CompiledRows
  readonly options: AuthorizeOptions
}

const ALL: RowsVerdict = { rows: 'all' }

function rowsVerdict({ operation, rows, options }: RowsParts, asked: Asked, wantsHal: boolean): RowsVerdict {
  const records = options.records()
  const scope = scopeOf(rows, asked.principal, records)
  if (scope === 'all') return ALL
  // A HAL answer has another shape and embeds entities of other kinds.
  if (wantsHal) return NOT_EXACT
  if (scope === 'none' && isPlain(operation, rows)) return { rows: 'none', answer: emptyAnswerOf(operation) }
  return narrowed(operation, rows, { scope, about: { principal: asked.principal, records } })
}

/** A list or count that nothing but these rows decides. Rows that everybody sees are not empty without a grant. */
function isPlain({ checks }: Operation, { exempt }: CompiledRows): boolean {
  return checks.length === 0 && (exempt === null || exempt === 'case')
}

function narrowed(
  { id }: Operation,
  rows: CompiledRows,
  { scope, about }: { readonly scope: Scope; readonly about: Parameters<typeof idsGranted>[2] },
): RowsVerdict {
  if (scope !== 'some' || !TASK_QUERIES.has(id) || usesRevokes(about.records, about.principal))
    return NOT_EXACT
  return {
    rows: 'narrowed',
    visible: {
      processDefinitionKeys: idsGranted(rows, 'PROCESS_DEFINITION', about),
      taskIds: idsGranted(rows, 'TASK', about),
    },
  }
}

const TASK_QUERIES: ReadonlySet<string> = new Set([
  'getTasks',
  'queryTasks',
  'getTasksCount',
  'queryTasksCount',
])
const NOT_EXACT: RowsVerdict = { rows: 'refused', refusal: new GatewayError('GW_ROWS_NOT_EXACT') }

function emptyAnswerOf({ id, template }: Operation): EngineVerdict {
  const body = template.endsWith('/count')
    ? { count: 0 }
    : id === 'getGroupInfo'
      ? { groups: [], groupUsers: [] }
      : []
  return new EngineVerdict({
    status: 200,
    body,
    headers: { 'content-type': 'application/json' },
    reason: 'no record makes any row visible',
  })
}

/** A query inside a body selects only what the caller may see; where that is not everything it does not run here. */
function selectsVerdict(
  selects: CompiledRows,
  { body, principal }: Asked,
  options: AuthorizeOptions,
): Verdict {
  if (typeof body !== 'object' || body === null) return { permitted: true }
  const hasQuery = Object.entries(body).some(([name, value]) => name.endsWith('Query') && value !== null)
  if (!hasQuery || scopeOf(selects, principal, options.records()) === 'all') return { permitted: true }
  return { permitted: false, refusal: new GatewayError('GW_ROWS_NOT_EXACT') }
}
