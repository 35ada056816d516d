import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

/** Six filters of each owner, in the order of their ids. */
const OWNERS = ['anna', 'ben', 'mary', null]
const FILTERS = Array.from({ length: 24 }, (_, at) => ({
  id: `f${String(at).padStart(2, '0')}`,
  name: at % 2 === 0 ? 'even' : 'odd',
  owner: OWNERS[at % OWNERS.length] ?? null,
  itemCount: 0,
}))

/** Returns the filters that an engine finds for a query. */
function foundBy(query: URLSearchParams): readonly (typeof FILTERS)[number][] {
  const is = (value: string | null, name: string) => !query.has(name) || query.get(name) === value
  return FILTERS.filter(({ id, name, owner }) => is(id, 'filterId') && is(name, 'name') && is(owner, 'owner'))
}

const gateway = await openGateway(t, {
  records: [
    'grant anna FILTER:f00 UPDATE',
    'grant anna FILTER:f01 READ',
    'grant anna FILTER:f04 READ',
    'grant @clerks FILTER:f02 READ',
    'grant @clerks FILTER:f03 READ',
    'revoke @clerks FILTER:f06 READ',
    'grant @clerks FILTER:f10 READ',
  ],
  settings: {
    authorization: { records: { source: 'file', file: 'records.yaml' }, implied: { filters: true } },
    limits: { scannedItems: 3 },
  },
  engine: ({ url }, response) => {
    const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
    const found = pathname.startsWith('/filter') ? foundBy(searchParams) : []
    const first = Number(searchParams.get('firstResult') ?? 0)
    const page = found.slice(first, first + Number(searchParams.get('maxResults') ?? found.length))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(pathname.endsWith('/count') ? { count: found.length } : page))
  },
})

/** The filters that each caller sees: their own, and those of the records. */
const VISIBLE: Readonly<Record<string, readonly string[]>> = {
  ben: FILTERS.filter(({ owner }) => owner === 'ben').map(({ id }) => id),
  // A record for anna on her filter replaces the permissions of the owner.
  anna: ['f01', 'f04', 'f08', 'f12', 'f16', 'f20'],
  // Revocations for a group do not apply to the owner.
  mary: ['f02', 'f03', 'f06', 'f10', 'f14', 'f18', 'f22'],
}

function queriesOf(userId: string): readonly string[] {
  return [
    '',
    'name=even',
    `owner=${userId}`,
    'owner=ben',
    'filterId=f00',
    'filterId=f01',
    'filterId=f02',
    'filterId=f03',
    `filterId=f04&owner=${userId}`,
    'itemCount=true',
  ]
}

function idsIn(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body.map((item: unknown) => (isRecord(item) ? item['id'] : null)) : []
}

for (const [userId, visible] of Object.entries(VISIBLE))
  for (const query of queriesOf(userId))
    t.test(
      `${userId} finds with ?${query} the filters that ${userId} may see, however many others there are`,
      async (t) => {
        const found = foundBy(new URLSearchParams(query)).map(({ id }) => id)
        const expected = found.filter((id) => visible.includes(id))
        const list = await gateway.ask(userId, `GET /filter?${query}`)
        t.match({ status: list.status, ids: idsIn(list.body) }, { status: 200, ids: expected })
        t.same(idsIn(list.body), expected)
        const count = await gateway.ask(userId, `GET /filter/count?${query}`)
        t.match({ status: count.status, body: count.body }, { status: 200, body: { count: expected.length } })
        const page = await gateway.ask(userId, `GET /filter?${query}&firstResult=2&maxResults=2`)
        t.same(idsIn(page.body), expected.slice(2, 4))
      },
    )

/** Returns the queries for filters that the engine received. */
function queriesIn(forwarded: readonly Seen[]): readonly string[] {
  return forwarded.map(({ url }) => url.slice(BASE.length)).filter((url) => url.startsWith('/filter'))
}

t.test('a caller without records causes one query, for their own filters', async (t) => {
  const { forwarded } = await gateway.ask('ben', 'GET /filter?name=even')
  t.same(queriesIn(forwarded), ['/filter?name=even&owner=ben'])
})

t.test('a caller without records who asks for the filters of another owner causes no query', async (t) => {
  const { body, forwarded } = await gateway.ask('ben', 'GET /filter?owner=anna')
  t.same(body, [])
  t.same(queriesIn(forwarded), [])
})

t.test(
  'a query for the caller in another spelling is forwarded, because the engine may ignore case',
  async (t) => {
    const { status, forwarded } = await gateway.ask('ben', 'GET /filter?owner=BEN')
    t.equal(status, 200)
    t.match(queriesIn(forwarded), [/^\/filter\?owner=BEN/])
  },
)
