import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { BASE, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

const records = { source: 'file', file: 'records.yaml' }
const gateway = await openGateway(t, {
  settings: { authorization: { mode: 'off', records }, validation: { mode: 'off' } },
  engine: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
  listen: true,
})

const takesJson = OPERATIONS.filter(
  ({ method, media }) => (method === 'POST' || method === 'PUT') && media === undefined,
)

t.test(
  'an empty body of JSON type is sent as an empty object by every operation that takes JSON',
  async (t) => {
    t.ok(takesJson.length > 140, `${takesJson.length}`)
    const headers = { 'content-type': 'application/json' }
    for (const { method, template } of takesJson) {
      const route = `${method} ${template.replaceAll(/:\w+/g, 'x')}`
      const { forwarded } = await gateway.ask('demo', route, { headers })
      const sent = forwarded.at(-1)
      // A filter is read before it is executed, because it may name the caller.
      t.same(
        forwarded.slice(0, -1).map((read) => `${read.method} ${read.url}`),
        route.startsWith('POST /filter/x/') ? ['GET /engine-rest/filter/x'] : [],
        route,
      )
      t.equal(String(sent?.body), '{}', route)
      t.match(sent?.headers, { 'content-type': 'application/json', 'content-length': '2' }, route)
    }
  },
)

const FILTER = 'POST /filter/x/count'

for (const type of [
  'application/json;charset=utf-8',
  ' APPLICATION/JSON ; version=1',
  'application/json;charset=utf-16',
])
  t.test(
    `an empty body of type ${type} is sent as an empty object, without type parameters and encoding`,
    async (t) => {
      const headers = { 'content-type': type, 'content-encoding': 'gzip' }
      const sent = (await gateway.ask('demo', FILTER, { headers })).forwarded.at(-1)
      t.equal(String(sent?.body), '{}')
      t.equal(sent?.headers['content-type'], 'application/json')
      t.notOk(sent?.headers['content-encoding'])
    },
  )

t.test('an empty body that ends with its first chunk is sent as an empty object', async (t) => {
  const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked']
  const before = gateway.engine.requests
  await speak(gateway.origin, `${head(`POST ${BASE}/filter/x/list`, ...lines)}0\r\n\r\n`)
  t.same(
    gateway.engine.seen.slice(before).map(({ method, body }) => `${method} ${String(body)}`),
    ['GET ', 'POST {}'],
  )
})

for (const [claim, route, type] of [
  ['no body without a type', FILTER, undefined],
  ['a GET', 'GET /filter/x/count', 'application/json'],
  ['an upload', 'POST /deployment/create', 'multipart/form-data; boundary=x'],
] as const)
  t.test(`an empty body stays empty: ${claim}`, async (t) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const sent = (await gateway.ask('demo', route, { headers })).forwarded.at(-1)
    t.match(sent, { body: { length: 0 } })
    t.equal(sent?.headers['content-type'], type)
  })

for (const [claim, route, type] of [
  ['one of another type', FILTER, 'text/plain'],
  ['one of a type that only begins as JSON does', FILTER, 'application/jsonx'],
  ['an upload of JSON type', 'POST /deployment/create', 'application/json'],
] as const)
  t.test(`an empty body gets 415 as from the engine: ${claim}`, async (t) => {
    const { status, body, forwarded } = await gateway.ask('demo', route, {
      headers: { 'content-type': type },
    })
    t.same([status, forwarded], [415, []])
    t.match(body, { type: 'NotSupportedException', message: 'HTTP 415 Unsupported Media Type' })
  })

t.test('an empty body is sent as an empty object when the items of a filter are read', async (t) => {
  const lines = ['grant mary FILTER:x READ', 'grant mary TASK:a READ', 'grant mary TASK:b READ']
  const { ask } = await openGateway(t, {
    records: lines,
    engine: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
  })
  for (const form of ['count', 'list', 'singleResult']) {
    const headers = { 'content-type': 'application/json' }
    const { forwarded } = await ask('mary', `POST /filter/x/${form}`, { headers })
    const asked = forwarded.filter(({ url }) => url.includes('/filter/x/list'))
    t.same(
      asked.map(({ body }) => String(body)),
      ['{}'],
      form,
    )
  }
})
