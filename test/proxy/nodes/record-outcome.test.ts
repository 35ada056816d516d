import t from 'tap'
import type { Node } from '../../../src/proxy/nodes/node.ts'
import { type AttemptOutcome, recordOutcome } from '../../../src/proxy/nodes/record-outcome.ts'

/** A response after 30 ms, recorded at 100 ms. */
const ANSWERED: AttemptOutcome = {
  result: 'ok',
  status: 200,
  sent: true,
  isGatewayFault: false,
  isStaleConnection: false,
  isLongPoll: false,
  startedAtMs: 10,
  headAtMs: 40,
  nowMs: 100,
}

const KNOWN_MS = 700

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
    { result: 'reset', sent: false, status: 0 },
    { latency: [5000], failed: ['refused', 10, 100], capacity: 9 },
  ],
  [
    'no connection in time',
    { result: 'timeout', sent: false, status: 0 },
    { latency: [5000], silent: [10], failed: ['refused', 10, 100], capacity: 9 },
  ],
  [
    'no answer in time',
    { result: 'timeout', status: 0 },
    { latency: [5000], overloaded: [100], failed: ['timeout', 10, 100], capacity: 9 },
  ],
  [
    'a connection that broke',
    { result: 'reset', status: 0 },
    { latency: [5000], failed: ['reset', 10, 100], capacity: 9 },
  ],
  ['a client that left early', { result: 'cancelled', status: 0 }, { latency: [KNOWN_MS], capacity: 9 }],
  [
    'a client that left late',
    { result: 'cancelled', status: 0, headAtMs: 910 },
    { latency: [900], capacity: 9 },
  ],
  [
    'a client that left before its request',
    { result: 'cancelled', sent: false, status: 0 },
    { latency: [KNOWN_MS], capacity: 9 },
  ],
  ['a long poll', { isLongPoll: true, headAtMs: 30_000 }, { answered: [200, 10, 100], capacity: 0 }],
  [
    'a long poll that the node refuses',
    { isLongPoll: true, status: 502 },
    { latency: [5000], answered: [502, 10, 100], capacity: 0 },
  ],
  ['a fault of the gateway', { isGatewayFault: true, result: 'reset' }, { capacity: 0 }],
  [
    'a connection that was closed while it waited',
    { isStaleConnection: true, result: 'reset' },
    { stale: [100], capacity: 0 },
  ],
]

for (const [claim, outcome, told] of CASES)
  t.test(`the outcome of an attempt is reported to its node: ${claim}`, async (t) => {
    t.same(toldOf(outcome), told)
  })
