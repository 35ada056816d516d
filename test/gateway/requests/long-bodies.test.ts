import t from 'tap'
import { longestTurnOf } from '../../support/longest-turn.ts'
import { openGateway } from '../../support/open-gateway.ts'

const { ask } = await openGateway(t, {
  // Load shedding is off, because a busy machine would otherwise refuse these requests.
  settings: {
    limits: {
      pressure: { eventLoopDelay: null },
      // The lists are as long as the configuration permits.
      items: { conditions: 100_000, orQueries: 1000, ids: 100_000 },
    },
  },
  records: [
    'grant mary PROCESS_DEFINITION:review READ,READ_TASK,CREATE_INSTANCE',
    'grant mary PROCESS_INSTANCE:* CREATE',
  ],
  engine: ({ url }, response) => {
    const definition = { id: 'review:1', key: 'review', tenantId: null }
    const answer = url.includes('/process-definition') ? definition : []
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  },
})

const list = (count: number, itemOf: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => itemOf(at)).join(',')

const START = 'POST /process-definition/key/review/start'
const WITHIN: Readonly<Record<string, readonly [route: string, body: string]>> = {
  'a thousand or-blocks with many members': [
    'POST /task',
    `{"orQueries":[${list(999, () => `{${list(49, (at) => `"x${at}":"a"`)},"taskIdIn":[${list(45, (at) => `"t${at}"`)}]}`)}]}`,
  ],
  'ten thousand members': ['POST /task', `{${list(10_000, (at) => `"m${at}":"${'x'.repeat(140)}"`)}}`],
  'numbers by the ten thousand': ['POST /task', `{"taskIdIn":[${list(99_000, () => '1.0')}]}`],
  'ids by the ten thousand': [
    'POST /task',
    `{"taskIdIn":[${list(50_000, (at) => `"${at}${'0'.repeat(30)}"`)}]}`,
  ],
  'filters by the ten thousand': [
    'POST /task',
    `{"taskVariables":[${list(24_000, () => '{"name":"v","operator":"eq","value":1}')}]}`,
  ],
  'many variables': [
    START,
    `{"variables":{${list(9900, (at) => `"v${at}":{"value":"${'x'.repeat(120)}","type":"String"}`)}}}`,
  ],
  'one long variable': [START, `{"variables":{"v":{"value":"${String.raw`\"`.repeat(800_000)}"}}}`],
}

const BEYOND: Readonly<Record<string, readonly [body: string, message: RegExp]>> = {
  'or-blocks by the ten thousand': [`{"orQueries":[${list(90_000, () => '{"name":"a"}')}]}`, /100000 values/],
  'more than a thousand or-blocks': [`{"orQueries":[${list(1001, () => '{}')}]}`, /1000 orQueries/],
  'more than ten thousand members': [`{${list(150_000, (at) => `"m${at}":1`)}}`, /10000 members/],
  'more numbers': [`{"taskIdIn":[${list(480_000, () => '1.0')}]}`, /100000 values/],
}

const MAX_WAIT_MS = 200

for (const [claim, [route, text]] of Object.entries(WITHIN))
  t.test(`a body of ${claim} does not block other requests for 200 ms`, async (t) => {
    const body = Buffer.from(text)
    const { status, forwarded } = await ask('mary', route, { body })
    t.equal(status, 200)
    t.equal(forwarded.length > 0, true, 'it is sent')
    const longest = await longestTurnOf(MAX_WAIT_MS, () => ask('mary', route, { body }))
    t.ok(longest < MAX_WAIT_MS, `${longest.toFixed(0)} ms`)
  })

for (const [claim, [text, message]] of Object.entries(BEYOND))
  t.test(`a body of ${claim} is refused, and does not block other requests for 200 ms`, async (t) => {
    const body = Buffer.from(text)
    const answer = await ask('mary', 'POST /task', { body })
    t.match(answer, { status: 400, headers: { 'x-gateway-error': 'GW_BAD_JSON' }, body: { message } })
    t.same(answer.forwarded, [])
    const longest = await longestTurnOf(MAX_WAIT_MS, () => ask('mary', 'POST /task', { body }))
    t.ok(longest < MAX_WAIT_MS, `${longest.toFixed(0)} ms`)
  })
