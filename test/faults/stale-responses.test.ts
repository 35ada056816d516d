import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import type { Seen } from '../support/fake-engine.ts'
import { openGateway } from '../support/open-gateway.ts'

const NAMES = 'GET /external-task/topic-names'
/** Names of topics are cached for two seconds. */
const EXPIRED_MS = 2_100

t.test(
  'an expired response is served to permitted callers while the response is requested again',
  async (t) => {
    const engine: { isHanging: boolean; readonly waiting: ServerResponse[] } = {
      isHanging: false,
      waiting: [],
    }
    const respond = ({ url }: Seen, response: ServerResponse): void => {
      if (engine.isHanging && url.includes('topic-names')) engine.waiting.push(response)
      else response.writeHead(200, { 'content-type': 'application/json' }).end('["topic-1"]')
    }
    const { ask } = await openGateway(t, { engine: respond })
    t.match(await ask('demo', NAMES), { status: 200, body: ['topic-1'] })
    await wait(EXPIRED_MS)
    engine.isHanging = true
    const stale = await ask('demo', NAMES)
    t.match(stale, { status: 200, body: ['topic-1'] })
    t.match(stale.headers['cache-status'], /^engine-gateway; hit; ttl=(?:0|-\d); detail=memory$/)
    t.match(stale.headers['age'], /^[2-4]$/)
    t.match(await ask('demo', NAMES), { body: ['topic-1'] }, 'also while the engine does not respond')
    await until(async () => engine.waiting.length > 0)
    t.equal(engine.waiting.length, 1, 'by one request')
    const refused = await ask(null, NAMES)
    t.equal(refused.status, 401)
    t.notMatch(refused.bytes.toString(), 'topic')
    for (const response of engine.waiting) response.destroy()
  },
)

t.test('the response that was read again is served afterwards', async (t) => {
  let count = 0
  const respond = ({ url }: Seen, response: ServerResponse): void => {
    if (url.includes('topic-names')) count += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(`["topic-${count}"]`)
  }
  const { ask } = await openGateway(t, { engine: respond })
  await ask('demo', NAMES)
  await wait(EXPIRED_MS)
  t.match(await ask('demo', NAMES), { body: ['topic-1'] })
  await until(async () => JSON.stringify((await ask('demo', NAMES)).body) === '["topic-2"]')
  t.equal(count, 2)
})

t.test('with staleWhileRevalidate 0 a request waits for the engine', async (t) => {
  let count = 0
  const respond = ({ url }: Seen, response: ServerResponse): void => {
    if (url.includes('topic-names')) count += 1
    response.writeHead(200, { 'content-type': 'application/json' }).end(`["topic-${count}"]`)
  }
  const { ask } = await openGateway(t, {
    engine: respond,
    settings: { cache: { staleWhileRevalidate: '0s' } },
  })
  await ask('demo', NAMES)
  await wait(EXPIRED_MS)
  t.match(await ask('demo', NAMES), { body: ['topic-2'] })
})
