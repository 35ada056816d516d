import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { exchange } from '../engine/exchange.ts'
import { idsOf } from './asks.ts'
import { errorCasesOf } from './error-cases.ts'

const sandbox = await startSandbox()
t.teardown(() => sandbox.close())
const versions = await idsOf(sandbox.base, '/process-definition?key=moving')
const [review] = await idsOf(sandbox.base, '/process-instance?businessKey=order-1')

for (const { ask, status, body } of errorCasesOf({ instanceId: String(review), versions })) {
  void t.test(`${ask.method} ${ask.path} returns ${status} as the engine does`, async (t) => {
    const answer = await exchange(sandbox.base, ask)
    t.equal(answer.status, status)
    t.same(answer.body, body)
    t.equal(answer.headers.get('cache-control'), ask.method === 'GET' ? 'no-cache' : null)
    // The container closes the connection after these responses.
    t.equal(answer.headers.get('connection'), status === 400 || status === 500 ? 'close' : 'keep-alive')
  })
}

void t.test('the container refuses encoded separators and paths outside the API', async (t) => {
  for (const [path, status] of [
    ['/task/a%2Fb', 400],
    ['/task/a%5Cb', 400],
    ['/task/%FF', 400],
  ] as const) {
    const answer = await exchange(sandbox.base, { method: 'GET', path })
    t.equal(answer.status, status, path)
    t.match(answer.headers.get('content-type'), 'text/html')
  }
  t.equal((await exchange(sandbox.origin, { method: 'GET', path: '/camunda' })).status, 404)
})

void t.test('a trailing slash and a path parameter are ignored', async (t) => {
  for (const path of ['/task/count/', '/task/count;x=1']) {
    t.equal((await exchange(sandbox.base, { method: 'GET', path })).status, 200, path)
  }
})

void t.test('only a JSON object is accepted as a body', async (t) => {
  const unsupported = {
    type: 'NotSupportedException',
    message: 'HTTP 415 Unsupported Media Type',
    code: null,
  }
  t.same(await send('text/plain', '{}'), { status: 415, body: unsupported })
  t.match(await send('application/json; charset=UTF-8', '{}'), { status: 200 })
  for (const body of ['{"name": ', '[1]', 'null']) {
    t.same(
      await send('application/json', body),
      { status: 400, body: { type: 'InvalidRequestException', message: '', code: null } },
      body,
    )
  }
})

async function send(type: string, text: string) {
  const headers = { 'content-type': type }
  const response = await fetch(`${sandbox.base}/task/count`, { method: 'POST', headers, body: text })
  const body: unknown = await response.json()
  return { status: response.status, body }
}

void t.test('a request that accepts no available format returns 406', async (t) => {
  const ask = { method: 'GET', path: '/task/count' } as const
  const refused = await exchange(sandbox.base, ask, { accept: 'application/xml' })
  t.match(refused, { status: 406, body: { type: 'NotAcceptableException' } })
  t.equal((await exchange(sandbox.base, ask, { accept: 'text/html, */*;q=0.1' })).status, 200)
})
