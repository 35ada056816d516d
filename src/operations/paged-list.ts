import type { Operation } from './table.ts'

/** Returns whether the response of an operation is a list whose pages `firstResult` and `maxResults` select. */
export function isPagedList({ rows, paging }: Pick<Operation, 'rows' | 'paging'>): boolean {
  return rows === undefined ? paging === true : rows.form === undefined && rows.paging !== 'ignored'
}
