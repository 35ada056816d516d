import { request } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { createAdmin } from '../../src/metrics/admin.ts'
import type { Readiness } from '../../src/metrics/admin.ts'
import { createMetrics } from '../../src/metrics/registry.ts'

async function openAdmin(t: Test, parts: { readiness?: () => Readiness; text?: () => Promise<string> } = {}) {
  const metrics = createMetrics({ version: '1' })
  const errors: unknown[][] = []
  const admin = await createAdmin({
    host: '127.0.0.1',
    port: 0,
    metrics: { contentType: metrics.contentType, text: parts.text ?? metrics.text },
    explain: async (question) => ({ status: 200, value: { question } }),
    reload: async () => ({ status: 422, value: { result: 'refused', problems: ['listen.port: no'] } }),
    readiness: parts.readiness ?? (() => ({ ready: true, checks: {} })),
    log: { error: (...words: unknown[]) => void errors.push(words) },
  })
  t.teardown(() => admin.close())
  return { admin, errors, get: (path: string, init?: RequestInit) => fetch(admin.address + path, init) }
}

t.test('alive is alive, whatever is not ready', async (t) => {
  const { get } = await openAdmin(t, { readiness: () => ({ ready: false, checks: {} }) })
  const answer = await get('/livez')
  t.equal(answer.status, 200)
  t.equal(await answer.text(), 'ok\n')
  t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.equal(answer.headers.get('cache-control'), 'no-store')
})

t.test('readiness is asked each time', async (t) => {
  let ready = true
  const { get } = await openAdmin(t, { readiness: () => ({ ready, checks: {} }) })
  t.equal((await get('/readyz')).status, 200)
  ready = false
  const answer = await get('/readyz')
  t.equal(answer.status, 503)
  t.equal(await answer.text(), 'not ready\n')
})

t.test('verbose lists the checks, a line each', async (t) => {
  const checks = { records: 'ok', 'node http://a:8080': 'refused\r\nsince 12:00' }
  const { get } = await openAdmin(t, { readiness: () => ({ ready: false, checks }) })
  const answer = await get('/readyz?verbose')
  t.equal(answer.status, 503)
  t.equal(await answer.text(), '[+] records ok\n[-] node http://a:8080 refused since 12:00\nnot ready\n')
})

t.test('metrics come in their own type, also by HEAD', async (t) => {
  const { get } = await openAdmin(t)
  const answer = await get('/metrics')
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.match(await answer.text(), /^gateway_info/m)
  t.equal((await get('/metrics', { method: 'HEAD' })).status, 200)
})

t.test('nothing else is there', async (t) => {
  const { get } = await openAdmin(t)
  for (const path of ['/', '/metrics/', '/engine-rest/task', '/%'])
    t.ok((await get(path)).status >= 400, path)
  t.ok((await get('/metrics', { method: 'POST', body: 'xy' })).status >= 400)
})

t.test('a scrape that fails is a 500 without its reason, which is logged', async (t) => {
  const { get, errors } = await openAdmin(t, { text: () => Promise.reject(new Error('inner')) })
  const answer = await get('/metrics')
  t.equal(answer.status, 500)
  t.notMatch(await answer.text(), /inner/)
  t.match(errors, [[{ err: { message: 'inner' } }, 'admin: /metrics failed']])
})

t.test('it closes at once over kept connections', async (t) => {
  const { admin } = await openAdmin(t)
  await new Promise<void>((resolve, reject) => {
    const options = { headers: { connection: 'keep-alive' } }
    request(`${admin.address}/livez`, options, (answer) => answer.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
  const start = performance.now()
  await admin.close()
  t.ok(performance.now() - start < 1000)
})

t.test('a question about permissions is answered as JSON, within its bound', async (t) => {
  const { get } = await openAdmin(t)
  const ask = (body: string, type = 'application/json') =>
    get('/explain', { method: 'POST', body, headers: { 'content-type': type } })
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

t.test('a reload that is refused is answered with what is wrong', async (t) => {
  const { get } = await openAdmin(t)
  const answer = await get('/reload', { method: 'POST' })
  t.equal(answer.status, 422)
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.same(await answer.json(), { result: 'refused', problems: ['listen.port: no'] })
  t.equal((await get('/reload')).status, 404)
})
