import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { type BothWays, countsOf, linesOf, openBothWays, replaceRecords } from '../../support/both-ways.ts'
import { authorizationOf, BASE, type GatewayOptions } from '../../support/open-gateway.ts'
import { seed } from '../../support/requirements.ts'

const DIAGRAM = '/decision-definition/key/discount/diagram'

/** Returns a request with exactly these lines, besides the one that closes the connection. */
function requestOf(start: string, ...lines: readonly string[]): string {
  const body = lines.includes('Transfer-Encoding: chunked') ? '0\r\n\r\n' : ''
  return `${[`${start} HTTP/1.1`, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`
}

/** Parts of generated requests. The first item of each list is the usual one. */
const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'DELETE', 'BREW']
const TARGETS = [
  BASE + DIAGRAM,
  BASE + DIAGRAM,
  BASE + DIAGRAM,
  `${BASE}/decision-definition/key/discount/xml`,
  `${BASE}/process-definition/key/review/xml`,
  `${BASE}/process-definition/key/review/diagram`,
  `${BASE}/engine/second${DIAGRAM}`,
  `${BASE}/engine/%73econd${DIAGRAM}`,
  `${BASE}/engine/other${DIAGRAM}`,
  `${BASE}${DIAGRAM}/`,
  `${BASE}${DIAGRAM}?`,
  `${BASE}${DIAGRAM}?x=1&a=2`,
  `${BASE}${DIAGRAM}?a=2&x=1`,
  `${BASE}${DIAGRAM}?n=%Rev%`,
  `${BASE}/decision-definition/key/%64iscount/diagram`,
  `${BASE}/decision-definition/key/discount/%64iagram`,
  `${BASE}/decision-definition/key/none/diagram`,
  `${BASE}/decision-definition/key//diagram`,
  `${BASE}/decision-definition/./key/discount/diagram`,
  `${BASE}/decision-definition/key/discount;a=b/diagram`,
  `${BASE}/decision-definition/key/discount%2Fx/diagram`,
  `${BASE}/version`,
  `${BASE}/nothing`,
  '/elsewhere',
  `http://gateway${BASE}${DIAGRAM}`,
]
const HOSTS = [
  ['Host: gateway'],
  ['Host: gateway'],
  ['Host: gateway'],
  ['Host: bad host'],
  [],
  ['Host: a', 'Host: b'],
]
const CREDENTIALS = [
  [`Authorization: ${authorizationOf('demo')}`],
  [`Authorization: ${authorizationOf('demo')}`],
  [`Authorization: ${authorizationOf('mary')}`],
  [`authorization: ${authorizationOf('mary').replace('Basic', 'bASIC')}`],
  [`Authorization: ${authorizationOf('nobody')}`],
  [`Authorization: ${authorizationOf('demo', 'wrong')}`],
  [`Authorization: ${authorizationOf('stranger')}`],
  ['Authorization: Bearer abc'],
  ['Authorization:'],
  [],
  [`Authorization: ${authorizationOf('demo')}`, `Authorization: ${authorizationOf('mary')}`],
]
const OTHER_LINES = [
  'Accept: image/png',
  'Accept: text/plain',
  'Accept: */*',
  'If-None-Match: *',
  'If-None-Match: "other", W/"x"',
  'Origin: https://app.example',
  'Origin: https://evil.example',
  'Sec-Fetch-Site: cross-site',
  'X-Forwarded-For: 10.0.0.1',
  'X-Added: 1',
  'X-Request-Id: given-1',
  'X-Request-Id: not valid',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Content-Length: 0',
  'Content-Type: application/json',
  'Range: bytes=0-3',
  'Cache-Control: no-cache',
  'Upgrade: websocket',
  'Transfer-Encoding: chunked',
]

/** Creates a generator of numbers that returns the same numbers in each run (mulberry32). */
function createRandom(start: number): (below: number) => number {
  let state = start
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function generated(random: (below: number) => number): string {
  const one = <T>(of: readonly T[], rest: T): T => of[random(of.length)] ?? rest
  // Two of three requests are usual ones, so that the fast path serves them.
  const usual = random(3) > 0
  const credential = one(usual ? CREDENTIALS.slice(0, 6) : CREDENTIALS, [])
  if (usual) {
    const line = one(OTHER_LINES.slice(2, 14), '')
    return requestOf(`GET ${one(TARGETS.slice(0, 7), '/')}`, 'Host: gateway', ...credential, line)
  }
  const others = Array.from({ length: random(3) }, () => one(OTHER_LINES, ''))
  return requestOf(`${one(METHODS, 'GET')} ${one(TARGETS, '/')}`, ...one(HOSTS, []), ...credential, ...others)
}

const RECORDS_OF_MARY = [
  'grant mary DECISION_DEFINITION:discount READ',
  'grant mary PROCESS_DEFINITION:* READ',
]
const RECORDS_FILE = { source: 'file', file: 'records.yaml' }
const SETTINGS: Readonly<Record<string, GatewayOptions>> = {
  'the defaults': { records: RECORDS_OF_MARY, watch: true },
  'a rate, CORS, hosts, a trusted proxy, an added header and audited reads': {
    records: RECORDS_OF_MARY,
    engines: { default: { requestHeaders: ['X-Added'] } },
    settings: {
      listen: { port: 0, trustedProxies: ['127.0.0.1'] },
      audit: { reads: ['getDecisionDefinitionDiagramByKey'], logins: true, reasons: true },
      limits: { rate: { requests: 30, per: '1h', burst: 30, users: { demo: 'unlimited' } } },
      cors: { origins: ['https://app.example'], credentials: true },
      hosts: ['gateway'],
    },
  },
  'the mode report': {
    records: RECORDS_OF_MARY,
    settings: { validation: { mode: 'report' }, authorization: { mode: 'report', records: RECORDS_FILE } },
  },
  'the mode engine': {
    records: RECORDS_OF_MARY,
    settings: { authorization: { mode: 'engine', records: RECORDS_FILE } },
    engines: {
      default: { credentials: 'forward' },
      second: { remoteName: 'second', credentials: 'forward' },
    },
  },
}

/** Compares everything that two gateways have recorded. */
async function compareRecords(t: Test, { fast, slow }: BothWays): Promise<void> {
  for (const { dependencies } of [fast, slow])
    await until(() => dependencies.metrics.traffic().inFlight === 0)
  t.same(linesOf(fast, 'access'), linesOf(slow, 'access'))
  t.same(linesOf(fast, 'audit'), linesOf(slow, 'audit'))
  t.same(await countsOf(fast), await countsOf(slow))
}

const REQUESTS = 160

for (const [index, [name, options]] of Object.entries(SETTINGS).entries())
  t.test(`with ${name}, both ways give the same responses, lines and counts`, async (t) => {
    const both = await openBothWays(t, options)
    const random = createRandom(seed * (index + 1))
    for (let count = 0; count < REQUESTS; count += 1) {
      if (count === REQUESTS - 40 && options.watch === true)
        for (const gateway of [both.fast, both.slow]) await replaceRecords(gateway, [])
      const bytes = generated(random)
      const { fast, slow } = await both.send(bytes)
      t.same(fast, slow, bytes)
    }
    await compareRecords(t, both)
    const hits = both.slow.routed() - both.fast.routed()
    // In the mode report, nothing is cached.
    if (name === 'the mode report') t.equal(hits, 0)
    else t.ok(hits > 20, `the fast path has served ${hits} requests`)
  })
