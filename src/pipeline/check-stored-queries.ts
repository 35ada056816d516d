import { jsonRefusalOf, operatorText } from '../errors.ts'
import { readFilter, type StoredFilter } from '../lists/rewrite/filter-execution.ts'
import type { Operation } from '../operations/table.ts'
import { checkStoredExpressions } from '../policy/validation/hazards.ts'
import { MAX_READ_BYTES } from '../request/buffered-response.ts'
import { type EngineResponse, invalidResponse, jsonIn } from '../request/engine-request.ts'
import { elementsIn } from '../lists/rewrite/narrow.ts'
import type { MaybePromise } from '../request/maybe-promise.ts'
import type { DecidedContext } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { enforce } from './enforcement-mode.ts'

/**
 * Reads the stored queries that the engine executes for a request: those of the filter that the path names, or of all filters whose
 * items it counts. Checks their expressions, because a filter may be older than the gateway, or written past it. The handlers execute
 * the queries that were checked. They are read after the decision, so that a caller without the permission learns nothing about them.
 */
export function checkStoredQueries(dependencies: Dependencies, context: DecidedContext): MaybePromise<void> {
  const { ask, accepted, decidesItself, validation } = context.engine
  const path = filtersOf(context)
  if (path === null || ask === null) return undefined
  if (decidesItself && (validation === 'off' || accepted.allowedHazards.has('expressions'))) return undefined
  return ask({ method: 'GET', path, limitBytes: MAX_READ_BYTES }).then((response) => {
    context.storedFilters = filtersIn(response)
    return enforce(dependencies, validation, context, () => {
      for (const { query } of context.storedFilters) checkStoredExpressions(query, accepted)
    })
  })
}

/** Returns the path that shows the filters that a request executes. Null if it executes none. */
function filtersOf({ operation, accessRequest }: DecidedContext): string | null {
  const { params, query } = accessRequest
  const id = encodeURIComponent(params['id'] ?? '')
  if (operation.expressions === 'checked with filter') return `/filter/${id}`
  if (!requestsItemCounts(operation, query)) return null
  const shown = new URLSearchParams([...query].filter(([name]) => name !== ITEM_COUNT)).toString()
  return operation.template.replace(':id', id) + (shown === '' ? '' : `?${shown}`)
}

export const ITEM_COUNT = 'itemCount'

/** Returns whether a request for filters also requests the number of items that each filter finds. */
export function requestsItemCounts(
  { handler }: Pick<Operation, 'handler'>,
  query: ReadonlyMap<string, string>,
): boolean {
  return handler === 'item counts' && query.get(ITEM_COUNT)?.toLowerCase() === 'true'
}

/**
 * Returns a filter, or a list of them. If there is no such filter, the engine responds to the request itself.
 * @throws EngineRefusal with the error of the engine, which has the same error for the execution: it cannot read the filter
 */
function filtersIn({ status, body }: EngineResponse): readonly StoredFilter[] {
  if (status === 404) return []
  const about = operatorText`a request for filters`
  const found = jsonIn(body, about)
  if (status >= 400)
    throw jsonRefusalOf(status, found, operatorText`The engine responded to ${about} with status ${status}`)
  if (status !== 200)
    throw invalidResponse(operatorText`The engine responded to ${about} with status ${status}`)
  return Array.isArray(found) ? elementsIn(body).map(readFilter) : [readFilter(body)]
}
