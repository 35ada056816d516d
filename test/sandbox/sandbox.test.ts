import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { exchange } from '../engine/exchange.ts'
import { idsOf } from './asks.ts'

void t.test('the sandbox has two engines, and paths without an engine belong to the first', async (t) => {
  const { base, close } = await startSandbox()
  t.teardown(close)
  const engines = await exchange(base, { method: 'GET', path: '/engine' })
  t.same(engines.body, [{ name: 'default' }, { name: 'second' }])
  t.same(await idsOf(base, '/engine/default/task'), await idsOf(base, '/task'))
  t.notSame(await idsOf(base, '/engine/second/task'), await idsOf(base, '/task'))
})

void t.test('ids have the format of each engine and are the same at every start', async (t) => {
  const [one, other] = [await startSandbox(), await startSandbox()]
  t.teardown(() => Promise.all([one.close(), other.close()]))
  const [uuid, counted] = ['/process-definition?key=review', '/engine/second/process-definition?key=review']
  t.match((await idsOf(one.base, uuid))[0], /^review:1:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  t.match((await idsOf(one.base, counted))[0], /^review:1:\d+$/)
  t.same(await idsOf(one.base, '/task'), await idsOf(other.base, '/task'))
})

void t.test('links contain the Host of the request and the engine of its path', async (t) => {
  const { base, origin, close } = await startSandbox()
  t.teardown(close)
  const ask = { method: 'POST', path: '/process-definition/key/review/start', body: {} } as const
  for (const root of [base, `${base}/engine/second`]) {
    const { body } = await exchange(root, ask)
    t.match(body, { links: [{ href: new RegExp(`^${root}/process-instance/`), method: 'GET', rel: 'self' }] })
  }
  t.equal(base, `${origin}/engine-rest`)
})

void t.test('received requests are recorded byte for byte and counted', async (t) => {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  t.same(sandbox.seen, [])
  const body = '{"priority": 12345678901234567890}'
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1' }
  await fetch(`${sandbox.base}/task/count?a=b`, { method: 'POST', headers, body })
  const [seen] = sandbox.seen
  t.match(seen, { method: 'POST', url: '/engine-rest/task/count?a=b', headers: { 'x-request-id': 'r-1' } })
  t.equal(seen?.body.toString(), body)
  t.equal(sandbox.requests, 1)
})

void t.test('only the last 500 requests are kept, and all are counted', async (t) => {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  for (let number = 1; number <= 510; number += 1) await fetch(`${sandbox.base}/version?number=${number}`)
  t.equal(sandbox.requests, 510)
  t.equal(sandbox.seen.length, 500)
  t.equal(sandbox.seen.at(-1)?.url, '/engine-rest/version?number=510')
})

void t.test('HEAD returns the response of GET without a body', async (t) => {
  const { base, close } = await startSandbox()
  t.teardown(close)
  const response = await fetch(`${base}/task/count`, { method: 'HEAD' })
  t.equal(response.status, 200)
  t.equal(await response.text(), '')
  t.equal(response.headers.get('cache-control'), null)
})

void t.test('the sandbox closes although clients keep their connections open', async (t) => {
  const sandbox = await startSandbox()
  await fetch(`${sandbox.base}/version`)
  await sandbox.close()
  await t.rejects(fetch(`${sandbox.base}/version`))
})
