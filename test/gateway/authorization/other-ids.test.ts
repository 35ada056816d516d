import t from 'tap'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

// The engine reads the entity by the id in the path, and writes it under the id in the body.

const KINDS = [
  ['user', 'PUT /user/anna/profile', 'User'],
  ['group', 'PUT /group/anna', 'Group'],
  ['tenant', 'PUT /tenant/anna', 'Tenant'],
] as const

t.test(
  'a caller who may change one entity may not write another one through the id in the body',
  async (t) => {
    const { ask } = await openGateway(t, {
      records: KINDS.flatMap(([kind]) => [
        `grant mary ${kind.toUpperCase()}:anna READ,UPDATE`,
        `grant ben ${kind.toUpperCase()}:anna READ`,
        `grant ben ${kind.toUpperCase()}:demo UPDATE`,
      ]),
      engine: ({ method }, response) => {
        response.writeHead(method === 'GET' ? 200 : 204).end(method === 'GET' ? '{"id":"anna"}' : undefined)
      },
    })
    for (const [kind, route, name] of KINDS)
      await t.test(kind, async (t) => {
        const put = async (user: string, body: string): Promise<readonly unknown[]> => {
          const answer = await ask(user, route, { body, headers: { 'content-type': 'application/json' } })
          const isWritten = answer.forwarded.some(({ method }) => method === 'PUT')
          t.equal(isWritten, answer.status === 204, body)
          return [
            answer.status,
            JSON.stringify(answer.body)
              .match(/resource '(.*?)' of type '(.*?)'/)
              ?.slice(1),
          ]
        }
        t.same(await put('mary', '{"id":"anna"}'), [204, undefined])
        t.same(await put('mary', '{"id":"demo"}'), [403, ['demo', name]])
        t.same(await put('mary', '{"id":"nobody"}'), [403, ['nobody', name]])
        t.same(await put('mary', '{"id":5.0}'), [403, ['5.0', name]])
        t.same(await put('mary', '{"id":true}'), [403, ['true', name]])
        t.equal((await put('mary', '{"id":{}}'))[0], 400)
        t.equal((await put('mary', '{"id":"anna","id":"demo"}'))[0], 400)
        t.same(await put('ben', '{"id":"demo"}'), [204, undefined], 'the id of the path is only read')
        t.same(await put('ben', '{"id":"anna"}'), [403, ['anna', name]])
        t.same(await put('ben', '{"id":null}'), [403, ['anna', name]])
        t.same(await put('ben', '{}'), [403, ['anna', name]])
      })
  },
)

t.test('users may not change another profile through their own', async (t) => {
  const { ask } = await openGateway(t, {
    records: [],
    engine: ({ method, url }, response) => {
      const [, id] = /\/user\/(\w+)\/profile$/.exec(url) ?? []
      response.writeHead(method === 'GET' ? 200 : 204)
      response.end(method === 'GET' ? JSON.stringify({ id }) : undefined)
    },
  })
  const put = async (path: string, id: string): Promise<number> =>
    (await ask('mary', `PUT /user/${path}/profile`, { body: { id, firstName: 'M' } })).status
  t.equal(await put('mary', 'mary'), 204)
  t.equal(await put('mary', 'demo'), 403)
  t.equal(await put('demo', 'mary'), 404)
})

t.test('a remembered password is forgotten when its user is overwritten', async (t) => {
  const { ask } = await openGateway(t, {
    records: ['grant mary USER:* READ,UPDATE'],
    settings: { identity: { source: 'engine', remember: '1h' } },
    engine: ({ method, url }, response) => {
      const path = (url.split('?', 1)[0] ?? '').slice(BASE.length)
      const id = new URL(url, 'http://x').searchParams.get('id')
      const body = path === '/identity/verify' ? { authenticated: true } : path === '/user' ? [{ id }] : []
      const isWritten = method === 'PUT'
      response.writeHead(isWritten ? 204 : 200, { 'content-type': 'application/json' })
      response.end(isWritten ? undefined : JSON.stringify(body))
    },
  })
  const route = 'GET /group/count'
  t.equal(verifies((await ask('anna', route)).forwarded).length, 1)
  t.equal(verifies((await ask('anna', route)).forwarded).length, 0, 'remembered')
  const written = await ask('mary', 'PUT /user/mary/profile', { body: { id: 'anna', firstName: 'A' } })
  t.equal(written.status, 204)
  t.match(verifies((await ask('anna', route)).forwarded), [{ username: 'anna' }])
  t.match(verifies((await ask('mary', route)).forwarded), [{ username: 'mary' }])
})

/** Returns the credentials that the engine was asked to verify. */
function verifies(forwarded: readonly Seen[]): readonly unknown[] {
  return forwarded
    .filter(({ url }) => url === `${BASE}/identity/verify`)
    .map(({ body }): unknown => JSON.parse(body.toString()))
}
