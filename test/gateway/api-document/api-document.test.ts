import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { isRecord } from '../../../src/request/value.ts'
import { openGateway } from '../../support/open-gateway.ts'

const SETTINGS = { apiDocument: { page: true } }

/** Returns the operationIds of a document. */
function idsIn(document: unknown): ReadonlySet<string> {
  const paths = isRecord(document) && isRecord(document['paths']) ? Object.values(document['paths']) : []
  return new Set(
    paths.flatMap((path) =>
      Object.values(isRecord(path) ? path : {}).flatMap((operation) =>
        isRecord(operation) && typeof operation['operationId'] === 'string' ? [operation['operationId']] : [],
      ),
    ),
  )
}

t.test('without `apiDocument`, the paths do not exist', async (t) => {
  const gateway = await openGateway(t)
  for (const path of ['/openapi.json', '/docs'])
    t.match(await gateway.ask('demo', `GET ${path}`), { status: 404, forwarded: [] })
  t.equal(gateway.dependencies.apiDocuments, null)
})

t.test('the document has the operations that the caller may be permitted', async (t) => {
  const gateway = await openGateway(t, {
    settings: SETTINGS,
    records: [
      'grant mary PROCESS_DEFINITION:invoice CREATE_INSTANCE,READ',
      'grant mary PROCESS_INSTANCE:* CREATE',
    ],
  })
  const mary = await gateway.ask('mary', 'GET /openapi.json')
  const john = await gateway.ask('john', 'GET /openapi.json')
  t.match(mary, {
    status: 200,
    headers: {
      'content-type': 'application/json',
      vary: 'Authorization',
      'cache-control': 'private, no-cache',
    },
  })
  t.ok(idsIn(mary.body).has('startProcessInstanceByKey'))
  t.notOk(idsIn(john.body).has('startProcessInstanceByKey'))
  t.notOk(idsIn(mary.body).has('createDeployment'))
  t.not(mary.headers['etag'], john.headers['etag'])
  t.match(mary.body, { openapi: '3.0.3', servers: [{ url: '/engine-rest' }], security: [{ basic: [] }] })
})

t.test('a request without credentials gets 401', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS })
  t.match(await gateway.ask(null, 'GET /openapi.json'), { status: 401, forwarded: [] })
})

t.test('the document of a named engine has its path', async (t) => {
  const gateway = await openGateway(t, {
    settings: SETTINGS,
    engines: { orders: { release: 'Camunda 7.22' } },
  })
  const { status, body } = await gateway.ask('demo', 'GET /engine/orders/openapi.json')
  t.equal(status, 200)
  t.match(body, { servers: [{ url: '/engine-rest/engine/orders' }], info: { version: 'Camunda 7.22' } })
  t.notOk(idsIn(body).has('updateTaskComment'), 'the release does not have it')
})

t.test('only administrators get the document of all operations', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS })
  const { status, body } = await gateway.ask('demo', 'GET /openapi.json?full')
  t.equal(status, 200)
  t.equal(idsIn(body).size, OPERATIONS.length)
  t.match(body, { info: { description: /^All operations of the engine/ } })
  t.match(await gateway.ask('mary', 'GET /openapi.json?full'), { status: 403 })
})

t.test('an unchanged document is not sent again', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS })
  const { headers } = await gateway.ask('mary', 'GET /openapi.json')
  const etag = headers['etag'] ?? ''
  t.match(etag, /^"[\w-]+"$/)
  const again = await gateway.ask('mary', 'GET /openapi.json', { headers: { 'if-none-match': etag } })
  t.match(again, { status: 304, headers: { etag }, bytes: Buffer.alloc(0) })
})

t.test('a caller with a ceiling sees no other writes', async (t) => {
  const gateway = await openGateway(t, {
    settings: { ...SETTINGS, limits: { ceilings: [{ ceiling: 'read', users: ['mary'] }] } },
    records: ['grant mary TASK:* ALL'],
  })
  const ids = idsIn((await gateway.ask('mary', 'GET /openapi.json')).body)
  t.ok(ids.has('getTask'))
  t.notOk(ids.has('complete'))
})

t.test('every operation is described if the gateway refuses nothing', async (t) => {
  const authorization = { mode: 'off', records: { source: 'engine' } }
  const gateway = await openGateway(t, { settings: { ...SETTINGS, authorization } })
  t.equal(idsIn((await gateway.ask('mary', 'GET /openapi.json')).body).size, OPERATIONS.length)
})

t.test('the page needs no script and no other file, and names the permissions', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS })
  const { status, headers, body } = await gateway.ask('mary', 'GET /docs')
  t.equal(status, 200)
  t.match(headers['content-security-policy'], /^default-src 'none'; style-src 'sha256-/)
  t.match(headers['content-type'], 'text/html')
  t.match(body, /Needs: .*<code>READ<\/code> on task/)
  t.notMatch(body, /<script|src=|href="http/)
  const withoutPage = await openGateway(t, { settings: { apiDocument: {} } })
  t.match(await withoutPage.ask('mary', 'GET /docs'), { status: 404 })
})

t.test('each link of the page leads to a unique element, which is in the part that it opens', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS })
  const { bytes } = await gateway.ask('demo', 'GET /docs')
  const page = bytes.toString()
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
  t.equal(new Set(ids).size, ids.length)
  const links = new Set([...page.matchAll(/ href="#([^"]+)"/g)].map(([, id = '']) => id))
  t.same(
    [...links].filter((id) => !ids.includes(id)),
    [],
  )
  // Browsers open a closed part only if the target is inside it.
  t.notMatch(page, /<(?:details|summary) id=/)
  t.match(page, /<a class="skip" href="#operations">/)
  t.match(page, /<nav aria-label="Sections">.*<a href="#section:task">/)
  t.match(page, /<section aria-labelledby="section:task"><h2 id="section:task">/)
  t.match(page, /<th scope="col">/)
})

t.test('a restricted caller gets at most 300 kB', async (t) => {
  const gateway = await openGateway(t, { settings: SETTINGS, records: ['grant mary TASK:* READ'] })
  t.ok((await gateway.ask('mary', 'GET /openapi.json')).bytes.length <= 300_000)
})
