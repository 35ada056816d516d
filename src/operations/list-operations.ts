import type { Check, ItemRestriction } from './notation.ts'
import { formEntryOf, type OperationForm } from './operation-form.ts'
import type { OperationEntry, WrittenOperations } from './table.ts'

/** A form of a list: its items or their count, with the query in the query string (GET) or in the body (POST). */
type ListForm = 'GET' | 'POST' | 'GET count' | 'POST count'

/** The fields that all operations of a list have in common. */
interface ListFields extends Omit<OperationEntry, 'route' | 'items' | 'checks'> {
  readonly path: `/${string}`
  /** Default: the path of the list, with `/count`. */
  readonly countPath?: `/${string}`
  /** The operations of the list, by form. The API does not have every form of every list. */
  readonly operations: Readonly<Partial<Record<ListForm, OperationForm>>>
}

/** A list of the API. Its items, its checks or both restrict it. */
type List = ListFields &
  (
    | { readonly items: ItemRestriction; readonly checks?: readonly Check[] }
    | { readonly items?: undefined; readonly checks: readonly Check[] }
  )

/** Returns all operations of a list: its query and its count, by GET and by POST. */
export function listOperations(list: List): WrittenOperations {
  const { path, countPath = `${path}/count`, operations, checks = [], items, ...shared } = list
  return Object.entries(operations).map(([form, operation]) => {
    const method = form.startsWith('GET') ? 'GET' : 'POST'
    const isCount = form.endsWith(' count')
    return formEntryOf(operation, {
      ...shared,
      route: `${method} ${isCount ? countPath : path}`,
      checks,
      ...(items !== undefined && { items: isCount ? { ...items, form: 'count' } : items }),
    })
  })
}
