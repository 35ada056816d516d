import t, { type Test } from 'tap'
import { openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'

const SAID = ['X-Forwarded-For: 1.1.1.1, 203.0.113.9', 'Forwarded: for=1.1.1.1, for=203.0.113.9']

const both = (client: string) => [
  { stream: undefined, client },
  { stream: 'audit', client },
]

async function open(t: Test, trustedProxies: readonly string[]) {
  const gateway = await openGateway(t, { listen: true, settings: { listen: { port: 0, trustedProxies } } })
  /** Returns the access line and the audit line of one refused request. */
  const linesOf = async (...said: readonly string[]) => {
    const before = gateway.log.length
    await speak(gateway.origin, head('GET /engine-rest/nothing', ...said))
    return gateway.log.slice(before).map(({ stream, client }) => ({ stream, client }))
  }
  return { linesOf, engine: gateway.engine, origin: gateway.origin }
}

t.test('log lines name the client that a trusted proxy names', async (t) => {
  const { linesOf, engine, origin } = await open(t, ['127.0.0.0/8'])
  for (const said of SAID) t.same(await linesOf(said), both('203.0.113.9'), said)
  t.same(await linesOf(...SAID), both('203.0.113.9'))
  t.same(await linesOf(), both('127.0.0.1'))
  await speak(origin, head('GET /engine-rest/version', ...SAID))
  const { headers = {} } = engine.seen.at(-1) ?? {}
  t.notOk(headers['x-forwarded-for'] ?? headers['forwarded'])
})

t.test('the client is found in chains of proxies and in unusual forms of the header', async (t) => {
  const { linesOf } = await open(t, ['127.0.0.0/8', '10.0.0.0/8'])
  const cases: readonly (readonly [said: string, client: string])[] = [
    ['X-Forwarded-For: 203.0.113.7, ::ffff:10.0.0.1', '203.0.113.7'],
    ['Forwarded: for=198.51.100.2;by="a;for=6.6.6.6"', '198.51.100.2'],
    ['X-Forwarded-For: 203.0.113.3:1234', '203.0.113.3'],
    ['X-Forwarded-For: 203.0.113.2", "user":"demo', '127.0.0.1'],
  ]
  for (const [said, client] of cases) t.same(await linesOf(said), both(client), said)
})

t.test('forwarding headers from an untrusted peer are ignored', async (t) => {
  const { linesOf } = await open(t, ['10.0.0.0/8'])
  t.same(await linesOf(...SAID), both('127.0.0.1'))
})
