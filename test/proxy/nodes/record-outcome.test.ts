import t from 'tap'
import type { Node } from '../../../src/proxy/nodes/node.ts'
import { type AttemptOutcome, LEARNED_FROM, recordOutcome } from '../../../src/proxy/nodes/record-outcome.ts'

/** A response after 30 ms, recorded at 100 ms. */
const ANSWERED: AttemptOutcome = {
  result: 'ok',
  endedBy: 'response',
  status: 200,
  sent: true,
  isLongPoll: false,
  startedAtMs: 10,
  headAtMs: 40,
  nowMs: 100,
}

const KNOWN_MS = 700

const LEFT = { result: 'cancelled', endedBy: 'client' } as const

/** Returns what an attempt reports to a node with a latency of 700 ms and two more requests in flight. */
function toldOf(outcome: Partial<AttemptOutcome>) {
  const told: Record<string, unknown> = {}
  const tell =
    (name: string) =>
    (...values: readonly unknown[]) => {
      told[name] = values
    }
  const node = {
    inFlight: 2,
    capacity: 0,
    keepAlive: { onStale: tell('stale') },
    latency: { readMs: () => KNOWN_MS, observe: (ms: number) => tell('latency')(ms) },
    health: { recordResponse: tell('answered'), failed: tell('failed'), silent: tell('silent') },
    concurrency: {
      limit: 9,
      overloaded: tell('overloaded'),
      recordResponse: ({ latencyMs, inFlight }: { readonly latencyMs: number; readonly inFlight: number }) =>
        tell('room')(latencyMs, inFlight),
    },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `recordOutcome` uses only these members of a node
  recordOutcome(node as unknown as Node, { ...ANSWERED, ...outcome })
  return { ...told, capacity: node.capacity }
}

const CASES: readonly (readonly [claim: string, outcome: Partial<AttemptOutcome>, told: object])[] = [
  ['an answer', {}, { latency: [30], room: [30, 3], answered: [200, 10, 100], capacity: 9 }],
  [
    'a refusal of the engine',
    { status: 404 },
    { latency: [30], room: [30, 3], answered: [404, 10, 100], capacity: 9 },
  ],
  [
    'an error of the engine is no fast answer, and gives no room',
    { status: 500 },
    { latency: [KNOWN_MS], answered: [500, 10, 100], capacity: 9 },
  ],
  [
    'a slow error of the engine is as slow as it was',
    { status: 500, headAtMs: 910 },
    { latency: [900], answered: [500, 10, 100], capacity: 9 },
  ],
  [
    'an error of what stands before the engine is very slow',
    { status: 502 },
    { latency: [5000], overloaded: [100], answered: [502, 10, 100], capacity: 9 },
  ],
  [
    'and as slow as it was, if that is more',
    { status: 504, headAtMs: 6010 },
    { latency: [6000], overloaded: [100], answered: [504, 10, 100], capacity: 9 },
  ],
  [
    'a node that is full',
    { status: 503 },
    { latency: [5000], overloaded: [100], answered: [503, 10, 100], capacity: 9 },
  ],
  [
    'a node that wants fewer requests',
    { status: 429 },
    { latency: [30], overloaded: [100], answered: [429, 10, 100], capacity: 9 },
  ],
  [
    'no connection',
    { result: 'reset', endedBy: 'node', sent: false, status: 0 },
    { latency: [5000], failed: ['refused', 10, 100], capacity: 9 },
  ],
  [
    'no connection in time',
    { result: 'timeout', endedBy: 'node', sent: false, status: 0 },
    { latency: [5000], silent: [10], failed: ['refused', 10, 100], capacity: 9 },
  ],
  [
    'no answer in time',
    { result: 'timeout', endedBy: 'node', status: 0 },
    { latency: [5000], overloaded: [100], failed: ['timeout', 10, 100], capacity: 9 },
  ],
  [
    'a connection that broke',
    { result: 'reset', endedBy: 'node', status: 0 },
    { latency: [5000], failed: ['reset', 10, 100], capacity: 9 },
  ],
  ['a client that left early', { ...LEFT, status: 0 }, { latency: [KNOWN_MS], capacity: 0 }],
  ['a client that left late', { ...LEFT, status: 0, headAtMs: 910 }, { latency: [900], capacity: 0 }],
  [
    'a client that left before its request',
    { ...LEFT, sent: false, status: 0 },
    { latency: [KNOWN_MS], capacity: 0 },
  ],
  ['a long poll', { isLongPoll: true, headAtMs: 30_000 }, { answered: [200, 10, 100], capacity: 0 }],
  [
    'a long poll that the node refuses',
    { isLongPoll: true, status: 502 },
    { latency: [5000], answered: [502, 10, 100], capacity: 0 },
  ],
  ['a fault of the gateway', { endedBy: 'gateway', result: 'reset' }, { capacity: 0 }],
  [
    'a connection that was closed while it waited',
    { endedBy: 'stale', result: 'reset' },
    { stale: [100], capacity: 0 },
  ],
]

for (const [claim, outcome, told] of CASES)
  t.test(`the outcome of an attempt is reported to its node: ${claim}`, async (t) => {
    t.same(toldOf(outcome), told)
  })

const STATISTICS = ['keepAlive', 'health', 'latency', 'concurrency', 'group'] as const

/** The statistics that change. `latency` in the row of `client`: only if the attempt took longer than the known latency. */
const LEARNED: Readonly<Record<keyof typeof LEARNED_FROM, readonly (typeof STATISTICS)[number][]>> = {
  response: ['health', 'latency', 'concurrency', 'group'],
  node: ['health', 'latency', 'concurrency', 'group'],
  stale: ['keepAlive'],
  client: ['latency'],
  gateway: [],
}

for (const [endedBy, learned] of Object.entries(LEARNED))
  for (const statistic of STATISTICS)
    t.test(
      `an attempt that was ended by ${endedBy} ${learned.includes(statistic) ? 'changes' : 'does not change'} ${statistic}`,
      async (t) => {
        const row = new Map(Object.entries(LEARNED_FROM)).get(endedBy)
        t.equal(row?.[statistic] !== false, learned.includes(statistic))
      },
    )

t.test(
  'a client that disconnects, whatever happens to its connection, never changes health or keep-alive',
  async (t) => {
    for (const sent of [true, false])
      for (const status of [0, 200, 502])
        for (const headAtMs of [40, 60_000]) {
          const told = toldOf({ ...LEFT, sent, status, headAtMs })
          t.notMatch(Object.keys(told).join(), /stale|answered|failed|silent|overloaded|room/)
        }
  },
)
