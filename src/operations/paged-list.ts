import type { Operation } from './table.ts'

/** Returns whether the response of an operation is a list whose pages `firstResult` and `maxResults` select. */
export function isPagedList({ items, paging }: Pick<Operation, 'items' | 'paging'>): boolean {
  return items === undefined ? paging === true : items.form === undefined && items.paging !== 'ignored'
}
