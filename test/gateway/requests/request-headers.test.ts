import t, { type Test } from 'tap'
import { startNode, type Seen } from '../../support/fake-engine.ts'
import { authorizationOf, BASE, configOf, openGateway } from '../../support/open-gateway.ts'
import { head, speak } from '../../support/raw.ts'
import { start } from '../../support/start.ts'
import { createLogger } from '../../../src/log.ts'
import { Random } from '../../differential/random.ts'

const NAMES = 10_000
/** The gateway reads at most 128 headers of a request. */
const EACH = 100

const WORDS =
  'accept access amzn api assertion auth authenticated authorization azure b3 baggage cert certificate cf client connection content context cookie custom data dn email encoding engine environ forwarded for fxn goog group groups host http id identity if ip jwt key length login match method name oidc original override path port prefix principal proto proxy range real remote request rewrite role roles script sec session ssl subject tailscale tenant token trace type uri url user userid verify webauth with x'.split(
    ' ',
  )

/** Returns header names that consist of words from headers for identities, certificates, addresses and targets, and from headers of the API. */
function generatedNames(): readonly string[] {
  const random = new Random(7)
  const names = new Set<string>()
  while (names.size < NAMES) {
    const words = Array.from({ length: 1 + random.below(4) }, () => random.pick(WORDS))
    const name = (random.chance(0.5) ? ['x', ...words] : words).join(random.pick(['-', '-', '-', '_', '']))
    // Other tests cover names that the gateway refuses or that frame the message.
    if (/^[a-z]/.test(name) && !/^(?:authorization|connection|content-length|host)$/.test(name))
      names.add(name)
  }
  return [...names].map((name) => (random.chance(0.5) ? name.toUpperCase() : name))
}

const ALLOWED = new Set(
  'accept accept-encoding b3 connection content-encoding content-range content-type cookie host if-match range x-forwarded-for x-forwarded-host x-forwarded-prefix x-forwarded-proto x-request-id'.split(
    ' ',
  ),
)

async function checkNames(
  t: Test,
  origin: string,
  path: string,
  seen: readonly Pick<Seen, 'headers'>[],
): Promise<number> {
  const names = generatedNames()
  t.equal(names.length, NAMES)
  let passed = 0
  for (let at = 0; at < names.length; at += EACH) {
    const lines = names
      .slice(at, at + EACH)
      .map((name) => `${name}: ${/^(?:content-encoding)$/i.test(name) ? 'identity' : 'claimed'}`)
    const [response] = await speak(origin, head(`GET ${path}`, ...lines))
    if (response?.status !== 200) t.fail(`${response?.status} ${response?.body} ${lines.join(' ')}`)
    const headers = seen.at(-1)?.headers ?? {}
    passed += 1
    for (const [name, value] of Object.entries(headers)) {
      if (!ALLOWED.has(name)) t.fail(`${name} reached the node`)
      if (name.startsWith('x-forwarded')) t.notMatch(value, /claimed/, name)
    }
  }
  return passed
}

t.test('only listed names reach an engine, out of 10,000 generated header names', async (t) => {
  const { origin, engine } = await openGateway(t, {
    engine: (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"7"}'),
    listen: true,
  })
  t.equal(await checkNames(t, origin, `${BASE}/version`, engine.seen), NAMES / EACH)
})

t.test('only listed names reach an application, out of 10,000 generated header names', async (t) => {
  const web = await startNode(t, (_request, response) => response.end('web'))
  const config = configOf(t, web.url + BASE, {
    settings: { health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url }] },
  })
  const { address, drain } = await start(
    config,
    createLogger({ level: 'error', destination: { write() {} } }),
  )
  t.teardown(drain)
  t.equal(await checkNames(t, address, '/app/x', web.seen), NAMES / EACH)
})

t.test('an engine and an application receive the headers that their configuration names', async (t) => {
  const web = await startNode(t, (_request, response) => response.end('{}'))
  const named = { requestHeaders: ['X-Correlation-Id', 'baggage'] }
  const config = configOf(t, web.url + BASE, {
    engines: { named },
    settings: { health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url, ...named }] },
  })
  const { address, drain } = await start(
    config,
    createLogger({ level: 'error', destination: { write() {} } }),
  )
  t.teardown(drain)
  const headers = { authorization: authorizationOf('demo'), 'x-correlation-id': 'c-1', baggage: 'a=b' }
  for (const [path, isNamed] of [
    [`${BASE}/engine/named/version`, true],
    ['/app/x', true],
    [`${BASE}/version`, false],
  ] as const) {
    await fetch(address + path, { headers })
    const seen = web.seen.at(-1)?.headers
    t.same(
      [seen?.['x-correlation-id'], seen?.['baggage']],
      isNamed ? ['c-1', 'a=b'] : [undefined, undefined],
      path,
    )
  }
})

t.test('an application receives the headers of browsers and web pages', async (t) => {
  const web = await startNode(t, (_request, response) => response.end('web'))
  const config = configOf(t, web.url + BASE, {
    settings: { health: { probe: false }, passthrough: [{ prefix: '/app', upstream: web.url }] },
  })
  const { address, drain } = await start(
    config,
    createLogger({ level: 'error', destination: { write() {} } }),
  )
  t.teardown(drain)
  const sent = {
    'x-xsrf-token': 't',
    'x-requested-with': 'XMLHttpRequest',
    referer: 'http://gateway/app/',
    'cache-control': 'no-cache',
    'sec-fetch-mode': 'cors',
    cookie: 'a=1',
  }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`)
  const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Protocol: token']
  t.match(await speak(address, head('GET /app/x', ...lines, ...upgrade)), [{ status: 200 }])
  t.match(web.seen.at(-1)?.headers, sent)
  for (const name of ['upgrade', 'sec-websocket-key', 'sec-websocket-protocol'])
    t.notOk(name in (web.seen.at(-1)?.headers ?? {}), name)
})

t.test('a request with a configured header does not share cached responses', async (t) => {
  const { ask } = await openGateway(t, {
    engine: ({ headers }, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(String(headers['x-flavour'])),
    engines: { named: { requestHeaders: ['X-Flavour'] } },
  })
  const route = 'GET /engine/named/decision-definition/key/discount/diagram'
  const bodies: unknown[] = []
  for (const headers of [{}, { 'x-flavour': 'a' }, {}, { 'x-flavour': 'b' }])
    bodies.push((await ask('demo', route, { headers })).body)
  t.same(bodies, ['undefined', 'a', 'undefined', 'b'])
})
