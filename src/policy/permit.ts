import { GatewayError } from '../errors.ts'
import type { Operation } from '../operations/table.ts'
import type { Asked } from './asked.ts'
import type { Authorize, AuthorizeOptions, Verdict } from './authorize.ts'
import { createAuthorize } from './authorize.ts'
import type { ReadRowFacts, Row } from './row-facts.ts'
import type { CompiledRows, Viewer } from './rows.ts'
import { usesRevokes } from './records.ts'
import { compileRows, idsGranted, isVisible, onlyOf, scopeOf } from './rows.ts'
import type { Visible } from './task-query.ts'

/** What a row-restricted query may answer. */
export type RowsVerdict =
  | { readonly rows: 'all' }
  /** Nothing. `valid`: the query has been checked whole, so the engine need not be asked whether it is one. */
  | { readonly rows: 'none'; readonly valid: boolean }
  | { readonly rows: 'narrowed'; readonly visible: Visible }
  /** Read them all and keep those that `keep` says. */
  | { readonly rows: 'filtered'; readonly keep: KeepRows }
  | { readonly rows: 'refused'; readonly refusal: GatewayError }

/** A verdict that leaves something out. */
export type Restriction = Exclude<RowsVerdict, { readonly rows: 'all' | 'refused' }>

/** Which of these rows of this list the caller sees. */
export type KeepRows = (template: string, rows: readonly Row[]) => Promise<readonly boolean[]>

export interface PermitOptions extends AuthorizeOptions {
  readonly readRowFacts: ReadRowFacts
}

/** All that the records say about one operation. */
export interface Permit extends Authorize {
  /** For queries; null where the operation answers no rows of its own. */
  readonly rows: ((asked: Asked, wantsHal: boolean) => RowsVerdict) | null
  /** For a body that selects rows by a query: whether that query may run as it is. */
  readonly selects: (asked: Asked) => Verdict
}

/** Prepares everything the policy says about an operation. @throws Error on a row the notation does not know */
export function createPermit(operation: Operation, options: PermitOptions): Permit {
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
  readonly options: PermitOptions
}

const ALL: RowsVerdict = { rows: 'all' }
const NOT_EXACT: RowsVerdict = { rows: 'refused', refusal: new GatewayError('GW_ROWS_NOT_EXACT') }

function rowsVerdict(parts: RowsParts, asked: Asked, wantsHal: boolean): RowsVerdict {
  const { operation, rows, options } = parts
  const viewer = { principal: asked.principal, records: options.records() }
  const scope = scopeOf(rows, viewer.principal, viewer.records)
  if (scope === 'all') return ALL
  // Two lists in one answer, each by its own permission.
  if (rows.form === 'groups') return { rows: 'filtered', keep: keepOf(parts, viewer) }
  // A HAL answer has another shape and embeds entities of other kinds.
  if (wantsHal) return NOT_EXACT
  if (scope === 'none' && (rows.exempt === null || rows.exempt === 'case'))
    return { rows: 'none', valid: operation.body !== undefined || operation.query !== undefined }
  // Counted or locked inside the engine: nothing can be left out afterwards.
  if (rows.form === 'instance counts' || rows.form === 'locks') return NOT_EXACT
  if (TASK_QUERIES.has(operation.id) && !usesRevokes(viewer.records, viewer.principal))
    return narrowed(rows, viewer)
  return { rows: 'filtered', keep: keepOf(parts, viewer) }
}

function narrowed(rows: CompiledRows, viewer: Viewer): RowsVerdict {
  return {
    rows: 'narrowed',
    visible: {
      processDefinitionKeys: idsGranted(rows, 'PROCESS_DEFINITION', viewer),
      taskIds: idsGranted(rows, 'TASK', viewer),
    },
  }
}

function keepOf({ rows, options }: RowsParts, viewer: Viewer): KeepRows {
  return async (template, list) => {
    const facts = await options.readRowFacts(template, list)
    const ruling = rows.form === 'groups' ? onlyOf(rows, template) : rows
    return list.map((row, index) => {
      const fact = facts[index]
      return fact !== undefined && isVisible(ruling, row, fact, viewer)
    })
  }
}

/** Queries that the engine can narrow by itself, exactly. */
const TASK_QUERIES: ReadonlySet<string> = new Set([
  'getTasks',
  'queryTasks',
  'getTasksCount',
  'queryTasksCount',
])

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
