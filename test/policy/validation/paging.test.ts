import t from 'tap'
import { pagingOf } from '../../../src/request/paging.ts'
import { PAGES } from '../../support/pages.ts'

t.test('paging parameters are read as the engine reads them', async (t) => {
  for (const [query, paging] of PAGES) t.same(pagingOf(new Map(new URLSearchParams(query))), paging, query)
})
