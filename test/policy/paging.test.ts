import t from 'tap'
import { pagingOf } from '../../src/policy/schemas/parameters.ts'
import { PAGES } from './pages.ts'

t.test('a page is read as the engine reads it', async (t) => {
  for (const [query, paging] of PAGES) t.same(pagingOf(new Map(new URLSearchParams(query))), paging, query)
})
