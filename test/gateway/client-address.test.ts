import t, { type Test } from 'tap'
import { openGateway } from '../support/open-gateway.ts'
import { head, speak } from '../support/raw.ts'

const SAID = ['X-Forwarded-For: 1.1.1.1, 203.0.113.9', 'Forwarded: for=1.1.1.1, for=203.0.113.9']

const both = (client: string) => [
  { stream: undefined, client },
  { stream: 'audit', client },
]

async function open(t: Test, trustedProxies: readonly string[]) {
  const gateway = await openGateway(t, { listen: true, settings: { listen: { port: 0, trustedProxies } } })
  /** The access and the audit line of one refused request. */
  const linesOf = async (...said: readonly string[]) => {
    const before = gateway.log.length
    await speak(gateway.origin, head('GET /engine-rest/nothing', ...said))
    return gateway.log.slice(before).map(({ stream, client }) => ({ stream, client }))
  }
  return { linesOf, engine: gateway.engine, origin: gateway.origin }
}

t.test('behind a trusted proxy the lines name the client that it names', async (t) => {
  const { linesOf, engine, origin } = await open(t, ['127.0.0.0/8'])
  for (const said of SAID) t.same(await linesOf(said), both('203.0.113.9'), said)
  t.same(await linesOf(...SAID), both('203.0.113.9'))
  t.same(await linesOf(), both('127.0.0.1'))
  await speak(origin, head('GET /engine-rest/version', ...SAID))
  const { headers = {} } = engine.seen.at(-1) ?? {}
  t.notOk(headers['x-forwarded-for'] ?? headers['forwarded'])
})

t.test('others may say what they like', async (t) => {
  const { linesOf } = await open(t, ['10.0.0.0/8'])
  t.same(await linesOf(...SAID), both('127.0.0.1'))
})
