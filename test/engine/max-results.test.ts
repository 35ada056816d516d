import { test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Ask } from '../differential/http.ts'
import { buildWorld } from '../differential/world.ts'
import { javaSkip } from '../support/requirements.ts'
import { type PairAnswer, startSecuredPair } from './secured-pair.ts'

const LIMIT = 3

const [DEFINITION, SYSTEM] = [6, 21]
const CALLERS = [
  { user: 'nothing', records: [] },
  { user: 'system', records: [{ resourceType: SYSTEM, permissions: ['READ'] }] },
  { user: 'history', records: [{ resourceType: DEFINITION, permissions: ['ALL'] }] },
  { user: 'office', records: [{ resourceType: DEFINITION, permissions: ['ALL'], resourceId: 'office' }] },
]

const QUERIES = [
  '',
  `?maxResults=${LIMIT}`,
  `?maxResults=${LIMIT + 1}`,
  '?firstResult=1',
  '?maxResults=2147483647',
]
const ASKS: readonly Ask[] = [
  ...['/schema/log', ...listsOf('GET')].flatMap((path) =>
    QUERIES.map((query): Ask => ({ method: 'GET', path: `${path}${query}` })),
  ),
  ...['/schema/log', ...listsOf('POST')].flatMap((path) =>
    QUERIES.map((query): Ask => ({ method: 'POST', path: `${path}${query}`, body: {} })),
  ),
]
const SORTED: readonly Ask[] = ['', `&maxResults=${LIMIT}`].flatMap((page) => [
  { method: 'GET', path: `/schema/log?sortBy=timestamp&sortOrder=asc${page}` },
  { method: 'GET', path: `/schema/log?sortBy=nosuch&sortOrder=asc${page}` },
  { method: 'GET', path: `/schema/log?sortBy=timestamp${page}` },
])

/** Returns the lists of items. A report has no page, and needs a parameter. */
function listsOf(wanted: 'GET' | 'POST'): readonly string[] {
  return OPERATIONS.flatMap(({ method, template, items, effect }) => {
    const isList = items != null && (wanted === 'GET' || effect === 'read')
    const isPaged = !/:|\/count$|report|\/groups$/.test(template)
    return method === wanted && isList && isPaged ? [template] : []
  })
}

void test('the limit of items per list is that of an engine with queryMaxResultsLimit', {
  skip: javaSkip,
}, async (t) => {
  const limit = `--camunda.bpm.generic-properties.properties.query-max-results-limit=${LIMIT}`
  const { admin, open } = await startSecuredPair(t, 'camunda', { args: [limit], adminAt: 'bare' })
  await buildWorld(admin, () => undefined)
  const settings = { maxResults: { items: LIMIT } }
  const { engine, gateway } = await open(CALLERS, { settings })
  for (const { user } of CALLERS)
    for (const ask of [...ASKS, ...SORTED]) {
      const [expected, actual] = [await engine(user, ask), await gateway(user, ask)]
      t.same(shownOf(actual), shownOf(expected), `${user} ${ask.method} ${ask.path} ${actual.code}`)
    }
})

/** Without a sort, the engine does not define which items a page has. */
function shownOf({ status, body }: PairAnswer) {
  return { status, body: Array.isArray(body) ? body.length : body }
}
