import { request } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import type { ServerTls } from '../../src/config/tls-types.ts'
import type { AdminAccess, SlowGuesses } from '../../src/metrics/admin-access.ts'
import { GatewayError } from '../../src/errors.ts'
import { createAdmin } from '../../src/metrics/admin-listener.ts'
import type { Readiness } from '../../src/metrics/admin-listener.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { adminRoutesOf } from '../../src/server/admin-routes.ts'
import { administered } from '../support/administered.ts'
import { writeCertificates } from '../support/certificates.ts'

const OPEN: AdminAccess = { host: '127.0.0.1', hosts: [], token: null, tokens: [] }

interface Given {
  readonly readiness?: () => Readiness
  readonly text?: () => Promise<string>
  readonly access?: AdminAccess
  readonly slowGuesses?: SlowGuesses
  readonly host?: string
  readonly tls?: ServerTls
}

/** The header that clients other than web pages send with every POST. */
const POSTED = { 'x-requested-by': 'a test' }

async function openAdmin(t: Test, parts: Given = {}) {
  const metrics = createMetrics({ version: '1' })
  const errors: unknown[][] = []
  const admin = await createAdmin({
    access: () => parts.access ?? OPEN,
    slowGuesses: parts.slowGuesses ?? ((_address, verify) => verify()),
    host: parts.host ?? '127.0.0.1',
    port: 0,
    routes: adminRoutesOf(
      administered({
        metrics: { contentType: metrics.contentType, text: parts.text ?? metrics.text },
        ...(parts.readiness === undefined ? {} : { readiness: parts.readiness }),
      }),
    ),
    tls: parts.tls ?? null,
    log: { error: (...words: unknown[]) => void errors.push(words), info: () => undefined },
  })
  t.teardown(() => admin.close())
  return { admin, errors, get: (path: string, init?: RequestInit) => fetch(admin.address + path, init) }
}

t.test('/livez responds with 200 even if the process is not ready', async (t) => {
  const { get } = await openAdmin(t, { readiness: () => ({ ready: false, checks: {} }) })
  const answer = await get('/livez')
  t.equal(answer.status, 200)
  t.equal(await answer.text(), 'ok\n')
  t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(answer.headers.get('cache-control'), 'no-store')
})

t.test('/ leads to the status page, also below a path of a proxy', async (t) => {
  const { get, admin } = await openAdmin(t)
  const response = await get('/', { redirect: 'manual' })
  t.equal(response.status, 302)
  t.equal(response.headers.get('location'), 'status')
  const page = await get('/')
  t.equal(page.url, `${admin.address}/status`)
  t.match(await page.text(), 'how it is')
})

t.test('/readyz evaluates the readiness for each request', async (t) => {
  let ready = true
  const { get } = await openAdmin(t, { readiness: () => ({ ready, checks: {} }) })
  t.equal((await get('/readyz')).status, 200)
  ready = false
  const answer = await get('/readyz')
  t.equal(answer.status, 503)
  t.equal(await answer.text(), 'not ready\n')
})

t.test('/readyz?verbose lists each check on its own line', async (t) => {
  const checks = { records: 'ok', 'node http://a:8080': 'refused\r\nsince 12:00' }
  const { get } = await openAdmin(t, { readiness: () => ({ ready: false, checks }) })
  const answer = await get('/readyz?verbose')
  t.equal(answer.status, 503)
  t.equal(await answer.text(), '[+] records ok\n[-] node http://a:8080 refused since 12:00\nnot ready\n')
})

t.test('/metrics responds with the Prometheus content type, also for HEAD', async (t) => {
  const { get } = await openAdmin(t)
  const answer = await get('/metrics')
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.match(await answer.text(), /^gateway_info/m)
  t.equal((await get('/metrics', { method: 'HEAD' })).status, 200)
})

t.test('other paths and methods are refused by the admin listener', async (t) => {
  const { get } = await openAdmin(t)
  for (const path of ['/x', '/metrics/', '/engine-rest/task', '/%'])
    t.ok((await get(path)).status >= 400, path)
  t.ok((await get('/metrics', { method: 'POST', body: 'xy' })).status >= 400)
})

t.test('a failed scrape returns 500 without the reason, which is logged', async (t) => {
  const { get, errors } = await openAdmin(t, { text: () => Promise.reject(new Error('inner')) })
  const answer = await get('/metrics')
  t.equal(answer.status, 500)
  t.notMatch(await answer.text(), /inner/)
  t.match(errors, [[{ err: { message: 'inner' } }, 'admin: /metrics failed']])
})

t.test('the address of the admin listener has the bound host and the scheme', async (t) => {
  const { 'server.crt': cert, 'server.key': key } = writeCertificates(t)
  const tls: ServerTls = { cert, key, minVersion: '1.2' }
  t.match((await openAdmin(t)).admin.address, /^http:\/\/127\.0\.0\.1:\d+$/)
  t.match((await openAdmin(t, { host: '0.0.0.0' })).admin.address, /^http:\/\/0\.0\.0\.0:\d+$/)
  t.match((await openAdmin(t, { host: '0.0.0.0', tls })).admin.address, /^https:\/\/0\.0\.0\.0:\d+$/)
})

t.test('the admin listener closes without waiting for idle keep-alive connections', async (t) => {
  const { admin } = await openAdmin(t)
  await new Promise<void>((resolve, reject) => {
    const options = { headers: { connection: 'keep-alive' } }
    request(`${admin.address}/livez`, options, (answer) => answer.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
  const start = performance.now()
  await admin.close()
  // Waiting for an idle keep-alive connection would take longer.
  t.ok(performance.now() - start < 4000)
})

t.test('/explain responds with JSON and limits the size of the question', async (t) => {
  const { get } = await openAdmin(t)
  const ask = (body: string, type = 'application/json') =>
    get('/explain', { method: 'POST', body, headers: { ...POSTED, 'content-type': type } })
  const answer = await ask('{"user":"mary"}')
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.same(await answer.json(), { question: { user: 'mary' } })
  t.equal((await ask(JSON.stringify('x'.repeat(65 * 1024)))).status, 413)
  const unread = await ask('{')
  t.equal(unread.status, 400)
  t.match(await unread.text(), /JSON/, 'it says what is wrong')
  t.equal((await ask('a=b', 'application/x-www-form-urlencoded')).status, 415)
  t.equal((await get('/explain')).status, 404)
})

t.test('the status is available as a page and as JSON', async (t) => {
  const { get } = await openAdmin(t)
  const page = await get('/status')
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(page.headers.get('content-security-policy'), "default-src 'none'")
  t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  t.equal(await page.text(), '<p>how it is')
  const value = await get('/status.json')
  t.equal(value.headers.get('content-type'), 'application/json; charset=utf-8')
  t.equal(value.headers.get('cross-origin-resource-policy'), 'same-origin')
  t.same(await value.json(), { ready: true })
  t.equal((await get('/status', { method: 'POST', headers: POSTED })).status, 404)
})

t.test('a refused reload returns 422 with the problems', async (t) => {
  const { get } = await openAdmin(t)
  const answer = await get('/reload', { method: 'POST', headers: POSTED })
  t.equal(answer.status, 422)
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.same(await answer.json(), { result: 'refused', problems: ['listen.port: no'] })
  t.equal((await get('/reload')).status, 404)
})

/** Sends a request with `node:http`, because `fetch` does not allow setting Host or Origin. */
function statusOf(origin: string, route: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const [method = '', path = ''] = route.split(' ')
  return new Promise((resolve, reject) => {
    request(origin + path, { method, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}

const ROUTES = [
  'GET /livez',
  'GET /readyz?verbose',
  'GET /metrics',
  'HEAD /metrics',
  'GET /status',
  'GET /status.json',
  'GET /none',
  'POST /reload',
]

t.test('pages of other origins are refused, and no page may change anything', async (t) => {
  const { admin } = await openAdmin(t)
  const status = (route: string, headers: Readonly<Record<string, string>>) =>
    statusOf(admin.address, route, headers)
  for (const route of ROUTES)
    for (const origin of ['http://evil.example', 'null', admin.address.replace('http', 'https')])
      t.equal(await status(route, { origin }), 403, `${route} of ${origin}`)
  t.equal(await status('GET /metrics', { origin: admin.address }), 200)
  t.equal(await status('POST /reload', { origin: admin.address }), 403)
  t.equal(await status('POST /explain', { 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await status('GET /metrics', { 'sec-fetch-site': 'cross-site' }), 200, 'a link is followed')
  t.equal(await status('POST /reload', POSTED), 422, 'what is no page may')
})

t.test('a POST needs a header that no page can send to another origin', async (t) => {
  const { admin } = await openAdmin(t)
  const status = (route: string, headers: Readonly<Record<string, string>>) =>
    statusOf(admin.address, route, headers)
  for (const route of ['POST /reload', 'POST /explain', 'DELETE /reload', 'OPTIONS /reload'])
    t.equal(await status(route, {}), 403, route)
  const preflight = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-requested-by',
  }
  t.equal(await status('OPTIONS /reload', { ...preflight, origin: 'http://evil.example' }), 403)
  t.equal(await status('POST /reload', { ...POSTED, origin: admin.address }), 403, 'no page reloads')
})

t.test('a page of the admin listener may use /explain', async (t) => {
  const token = 'abcdefghij-0123456789'
  const access = { ...OPEN, hosts: ['gateway'], token }
  const { admin } = await openAdmin(t, { access })
  const ask = (headers: Readonly<Record<string, string>>) => statusOf(admin.address, 'POST /explain', headers)
  const own = { origin: admin.address, authorization: `Bearer ${token}` }
  t.equal(await ask({ ...POSTED, ...own }), 200)
  t.equal(await ask({ ...POSTED, ...own, 'sec-fetch-site': 'same-origin' }), 200)
  const { origin: _, ...unnamed } = { ...POSTED, ...own }
  t.equal(await ask(unnamed), 200, 'not from a page')
  t.equal(await ask({ ...unnamed, 'sec-fetch-site': 'cross-site' }), 403, 'a page that hides its origin')
  t.equal(await ask(own), 403, 'without the header')
  t.equal(await ask({ ...POSTED, origin: admin.address }), 401, 'without the token')
  const throughProxy = { ...POSTED, ...own, host: 'gateway', origin: 'https://gateway' }
  t.equal(await ask({ ...throughProxy, 'sec-fetch-site': 'same-origin' }), 200)
  t.equal(await ask({ ...throughProxy, 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await ask(throughProxy), 403)
  const { admin: open } = await openAdmin(t)
  t.equal(await statusOf(open.address, 'POST /explain', { ...POSTED, origin: open.address }), 403)
})

t.test('an unknown host name is refused, which prevents DNS rebinding', async (t) => {
  const access = { ...OPEN, host: 'admin.internal', hosts: ['Gateway-Admin'] }
  const { admin } = await openAdmin(t, { access })
  const refused = [
    'evil.example',
    'evil.example:9090',
    'gateway-admin.evil.example',
    'a@localhost',
    'localhost@evil.example',
    '127.1',
    '[::1',
    '127.0.0.1.evil.example',
  ]
  for (const host of refused)
    for (const route of ROUTES)
      t.equal(await statusOf(admin.address, route, { host }), 403, `${route} at ${host}`)
  const served = [
    '127.0.0.1',
    '10.1.2.3:9090',
    '[::1]:9090',
    'localhost:1',
    'LOCALHOST',
    'gateway-admin:9090',
  ]
  for (const host of [...served, 'admin.internal', 'gateway-admin.'])
    t.equal(await statusOf(admin.address, 'GET /metrics', { host }), 200, host)
})

t.test('a configured token is required for all paths except the probes', async (t) => {
  const token = 'abcdefghij-0123456789'
  const { admin, get } = await openAdmin(t, { access: { ...OPEN, token } })
  const status = (route: string, authorization?: string) =>
    statusOf(admin.address, route, authorization === undefined ? {} : { authorization })
  const needing = [
    'GET /metrics',
    'HEAD /metrics',
    'GET /status',
    'GET /status.json',
    'POST /explain',
    'POST /reload',
    'GET /none',
    'GET /livez/',
    'GET //config',
    'GET /CONFIG',
    'GET /livez%2f..%2fconfig',
    'GET /config?x=/livez',
    `GET /config?token=${token}`,
  ]
  const wrong = [
    undefined,
    'Bearer',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Basic ${token}`,
    'Bearer ',
    'Basic YWRtMW4=',
    token,
  ]
  for (const route of needing)
    for (const authorization of wrong)
      t.equal(await status(route, authorization), 401, `${route}: ${authorization}`)
  t.equal(
    (await get('/metrics')).headers.get('www-authenticate'),
    'Bearer realm="engine-gateway admin", Basic realm="engine-gateway admin"',
  )
  t.equal(await status('GET /metrics', `bearer  ${token}`), 200)
  t.equal(await status('POST /reload', `Bearer ${token}`), 403, 'and the header')
  const posted = { ...POSTED, authorization: `Bearer ${token}` }
  t.equal(await statusOf(admin.address, 'POST /reload', posted), 422)
  for (const route of ['GET /livez', 'HEAD /readyz', 'GET /readyz?verbose'])
    t.equal(await status(route), 200, route)
})

t.test('the token is accepted as a Basic password of any user', async (t) => {
  const token = 'abcdefghij:0123456789'
  const { admin } = await openAdmin(t, { access: { ...OPEN, token } })
  const status = (credential: string) => {
    const authorization = `Basic ${Buffer.from(credential).toString('base64')}`
    return statusOf(admin.address, 'GET /metrics', { authorization })
  }
  for (const right of [`:${token}`, `anyone:${token}`]) t.equal(await status(right), 200, right)
  for (const wrong of ['', token, `${token}:`, `anyone:${token}x`, `anyone::${token}`])
    t.equal(await status(wrong), 401, wrong)
})

t.test('wrong tokens are throttled by address, and requests without a token are not', async (t) => {
  const token = 'abcdefghij-0123456789'
  const addresses: string[] = []
  let isFull = false
  const slowGuesses: SlowGuesses = async (address, verify) => {
    addresses.push(address)
    if (isFull) throw new GatewayError('GW_THROTTLED', { retryAfterSeconds: 3 })
    return verify()
  }
  const { get } = await openAdmin(t, { access: { ...OPEN, token }, slowGuesses })
  const guess = () => get('/metrics', { headers: { authorization: 'Bearer a-wrong-token-of-it' } })
  t.equal((await get('/metrics')).status, 401)
  t.equal((await get('/livez')).status, 200)
  t.same(addresses, [])
  t.equal((await guess()).status, 401)
  t.same(addresses, ['127.0.0.1'])
  isFull = true
  const refused = await guess()
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('retry-after'), '3')
})
