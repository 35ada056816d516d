import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { isPagedList } from '../../src/operations/paged-list.ts'
import { publishedOperation } from '../../src/operations/published/facts.ts'

/** The engine limits this list of numbers to 200 by itself, and its own `queryMaxResultsLimit` does not apply to it. */
const LIMITED_BY_THE_ENGINE = ['interval']
/** The engine pages this list, although the published API does not say so. */
const PAGED_UNPUBLISHED = ['queryHistoricExternalTaskLogs']

t.test('the lists with pages are those that the published API pages', (t) => {
  const published = OPERATIONS.filter(({ id }) => publishedOperation(id) !== null)
  const paged = published.filter(({ id }) => publishedOperation(id)?.query.has('maxResults') === true)
  t.same(
    published.filter(isPagedList).map(({ id }) => id),
    published
      .filter(
        (one) =>
          (paged.includes(one) && !LIMITED_BY_THE_ENGINE.includes(one.id)) ||
          PAGED_UNPUBLISHED.includes(one.id),
      )
      .map(({ id }) => id),
  )
  t.ok(paged.length > 50)
  t.end()
})

t.test('no operation that writes is a list with pages', (t) => {
  t.same(
    OPERATIONS.filter((operation) => isPagedList(operation) && operation.effect === 'write').map(
      ({ id }) => id,
    ),
    [],
  )
  t.end()
})
