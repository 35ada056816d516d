import t from 'tap'
import { pagingOf } from '../../../src/request/paging.ts'
import { PAGES } from '../../support/pages.ts'

t.test('a page is read as the engine reads it', async (t) => {
  for (const [query, paging] of PAGES) t.same(pagingOf(new Map(new URLSearchParams(query))), paging, query)
})
