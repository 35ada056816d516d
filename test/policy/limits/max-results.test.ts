import t from 'tap'
import { createMaxResults } from '../../../src/policy/limits/max-results.ts'
import { queryOf } from '../../../src/request/canonical.ts'

const LIMITS = {
  items: 10,
  excess: 'refuse',
  users: { batch: 1000, report: 'unlimited', guest: 2 },
  groups: { workers: 100, staff: 20, export: 'unlimited' },
} as const

const UNBOUND = 'An unbound number of results is forbidden!'
const exceeded = (limit: number) => `Max results limit of ${limit} exceeded!`

/** Returns the message of the refusal, or null. */
function refusalOf(search: string, userId = 'mary', groups: readonly string[] = []): string | null {
  const refusal = createMaxResults(LIMITS).refusalOf({ userId, groups }, queryOf(search))
  if (refusal === null) return null
  const { type, message, code } = Object(refusal.body)
  t.same([refusal.statusCode, type, code], [400, 'BadUserRequestException', 0])
  return message
}

t.test('a query is refused if it requests more items than the limit, or all items', (t) => {
  for (const [search, message] of [
    ['', UNBOUND],
    ['?maxResults=', UNBOUND],
    ['?firstResult=3', UNBOUND],
    ['?maxResults=2147483647', UNBOUND],
    ['?maxResults=-2', UNBOUND],
    ['?MAXRESULTS=5', UNBOUND],
    ['??maxResults=5', UNBOUND],
    ['?maxResults=11', exceeded(10)],
    ['?maxResults=%2B11', exceeded(10)],
    ['?maxResults=%D9%A1%D9%A1', exceeded(10)],
    ['?max%52esults=11', exceeded(10)],
    ['?maxResults=11&maxResults=5', exceeded(10)],
    ['?maxResults=10', null],
    ['?firstResult=900&maxResults=10', null],
    ['?maxResults=0', null],
    ['?maxResults=-1', null],
    ['?maxResults=ten', null],
    ['?maxResults=2147483648', null],
    ['?firstResult=x', null],
  ] as const)
    t.equal(refusalOf(search), message, search)
  t.end()
})

t.test(
  'the limit of a user has precedence over the largest limit of a group, and this over the general limit',
  (t) => {
    for (const [user, groups, limit] of [
      ['mary', [], 10],
      ['mary', ['other'], 10],
      ['mary', ['workers'], 100],
      ['mary', ['staff', 'workers'], 100],
      ['batch', ['staff'], 1000],
      ['guest', ['export', 'workers'], 2],
    ] as const) {
      t.equal(refusalOf(`?maxResults=${limit}`, user, groups), null, user)
      t.equal(refusalOf(`?maxResults=${limit + 1}`, user, groups), exceeded(limit), user)
    }
    t.equal(refusalOf('', 'report'), null)
    t.equal(refusalOf('', 'mary', ['workers', 'export']), null)
    t.end()
  },
)

t.test(
  'only with `limit` the query string gets the limit, and all other parameters stay as they are',
  (t) => {
    const mary = { userId: 'mary', groups: [] }
    const limiting = createMaxResults({ ...LIMITS, excess: 'limit' })
    for (const [search, sent] of [
      ['', '?maxResults=10'],
      ['?', '?maxResults=10'],
      ['?name=a%20b&&x', '?name=a%20b&x&maxResults=10'],
      ['?maxResults=500&firstResult=5', '?firstResult=5&maxResults=10'],
      ['?maxResults=&max%52esults=7&a=1', '?a=1&maxResults=10'],
      ['??maxResults=5', '??maxResults=5&maxResults=10'],
      ['?maxResults=5&a=1', '?maxResults=5&a=1'],
      ['?maxResults=ten', '?maxResults=ten'],
    ] as const) {
      t.equal(limiting.searchOf(mary, search), sent, search)
      t.equal(createMaxResults(LIMITS).searchOf(mary, search), search)
      t.equal(limiting.refusalOf(mary, queryOf(sent)), null)
    }
    t.equal(limiting.searchOf({ userId: 'report', groups: [] }, '?maxResults=500'), '?maxResults=500')
    t.end()
  },
)
