import t from 'tap'
import { createLogger } from '../../src/log.ts'
import { createDrain } from '../../src/server/drain.ts'
import { drainInProcess } from '../../src/server/drain-nodes.ts'
import { DRAIN, STATUS } from '../../src/server/questions.ts'

const A = 'http://a:8080/engine-rest'
const B = 'http://b:8080/engine-rest'
const C = 'http://c:8080/engine-rest'

interface NodeGiven {
  readonly node: string
  readonly isDrained?: boolean
  readonly isDrainedByCommand?: boolean
  readonly reason?: string | null
}

type EnginesGiven = Readonly<Record<string, readonly NodeGiven[]>>

interface ProcessesGiven {
  readonly answering?: number
  readonly configured?: number
  /** The nodes as all processes except the first see them. */
  readonly others?: EnginesGiven
}

/** Opens a drain in front of processes with these nodes by engine. */
function open(
  engines: EnginesGiven,
  { answering = 1, configured = 1, others = engines }: ProcessesGiven = {},
) {
  const lines: unknown[] = []
  const orders: unknown[] = []
  const statusOf = (seen: EnginesGiven) => ({
    traffic: { operations: [], engines: [], refusals: [], cache: [], inFlight: 0 },
    redis: 'none',
    pressure: [],
    engines: Object.entries(seen).map(([name, nodes]) => ({
      name,
      sources: [],
      polls: { open: 0, waiting: 0, abandoned: 0 },
      slow: { running: 0, waiting: 0 },
      queue: 0,
      groups: null,
      nodes: nodes.map((node) => ({ isDrained: false, reason: null, ...node })),
    })),
  })
  const drain = createDrain({
    processes: {
      askEach: async ({ name, isAnswer }, parameters) => {
        if (name === DRAIN.name) orders.push(parameters)
        const answerOf = (at: number): unknown =>
          name === STATUS.name ? statusOf(at === 0 ? engines : others) : { running: 2 }
        return Array.from({ length: answering }, (_, at) => answerOf(at)).filter(isAnswer)
      },
      askOne: async () => null,
      configured,
    },
    log: createLogger({ level: 'info', destination: { write: (line) => void lines.push(JSON.parse(line)) } }),
  })
  return { drain, lines, orders, run: (request: unknown) => drain.run(request, '10.1.2.3') }
}

const TWO = { default: [{ node: A }, { node: B }] }

t.test('a drain of a node concerns all engines that have it, in all processes', async (t) => {
  const engines = { ...TWO, second: [{ node: A }, { node: C }], third: [{ node: C }] }
  const { run, lines, orders } = open(engines, { answering: 2, configured: 2 })
  const value = { node: A, engines: ['default', 'second'], drained: true, running: 4, processes: 2, of: 2 }
  t.same(await run({ node: `${A}/` }), { status: 200, value })
  t.match(orders, [
    {
      node: A,
      drained: [
        { engine: 'default', node: A, isForced: false },
        { engine: 'second', node: A, isForced: false },
      ],
    },
  ])
  t.match(lines, [{ level: 'warn', msg: 'node drained', client: '10.1.2.3', node: A, isForced: false }])
})

t.test('a drain of a node at one engine leaves it in use at the others', async (t) => {
  const { run, orders } = open({ ...TWO, second: [{ node: A }, { node: C }] })
  t.match(await run({ node: A, engine: 'second' }), { status: 200, value: { engines: ['second'] } })
  t.match(orders, [{ drained: [{ engine: 'second', node: A }] }])
})

t.test('a drain of the last healthy node is refused unless it is forced', async (t) => {
  for (const others of [[], [{ node: B, isDrained: true }], [{ node: B, reason: 'refused' }]]) {
    const { run, orders, lines } = open({ default: [{ node: A }, ...others] })
    t.match(await run({ node: A }), { status: 409, value: { error: /default has no other healthy node/ } })
    t.same([orders, lines], [[], []])
    t.match(await run({ node: A, force: true }), { status: 200 })
    t.match(orders, [{ drained: [{ node: A, isForced: true }] }])
  }
})

t.test('a node that one process considers unhealthy does not count as another node', async (t) => {
  const ill = { default: [{ node: A }, { node: B, reason: 'refused' }] }
  for (const [engines, others] of [
    [TWO, ill],
    [ill, TWO],
  ] as const) {
    const { run, orders } = open(engines, { answering: 2, configured: 2, others })
    t.equal((await run({ node: A })).status, 409)
    t.same(orders, [])
  }
})

t.test('if one of the engines has no other node, the node is drained at none', async (t) => {
  const { run, orders } = open({ ...TWO, second: [{ node: A }] })
  t.match(await run({ node: A }), { status: 409, value: { error: /The engine second/ } })
  t.same(orders, [])
})

t.test('a returned node is used again, and other drained nodes stay drained', async (t) => {
  const { run, orders, lines } = open({ default: [{ node: A }, { node: B }, { node: C }] })
  await run({ node: A })
  await run({ node: B })
  t.match(await run({ node: A, back: true }), { status: 200, value: { drained: false } })
  t.match(orders[2], { drained: [{ node: B }] })
  t.match(lines[2], { msg: 'drained node is used again', client: '10.1.2.3' })
  t.match(await run({ node: A, back: true }), { status: 409, value: { error: /not drained by a command/ } })
})

t.test('a node that is drained, but that a process still uses, does not count as another node', async (t) => {
  const { run, orders } = open(TWO)
  await run({ node: A })
  t.match(await run({ node: B }), { status: 409, value: { error: /default has no other healthy node/ } })
  t.match(orders, [{ drained: [{ node: A }] }])
})

t.test('a drain that is repeated only reports, also if the other node has failed meanwhile', async (t) => {
  const engines: Record<string, readonly NodeGiven[]> = { ...TWO }
  const { run, orders, lines } = open(engines)
  await run({ node: A })
  engines['default'] = [
    { node: A, isDrained: true, isDrainedByCommand: true },
    { node: B, reason: 'refused' },
  ]
  t.match(await run({ node: A }), { status: 200, value: { drained: true, running: 2 } })
  t.same(orders[1], orders[0])
  t.equal(lines.length, 1)
  await run({ node: A, force: true })
  t.match(orders[2], { drained: [{ node: A, isForced: true }] })
  await run({ node: A })
  t.same(orders[3], orders[2], 'the drain stays forced')
})

t.test('a repeated drain that had no effect is refused', async (t) => {
  const engines: Record<string, readonly NodeGiven[]> = { ...TWO }
  const { run } = open(engines)
  await run({ node: A })
  engines['default'] = [{ node: A }]
  t.equal((await run({ node: A })).status, 409)
})

t.test('a drained node that the configuration no longer has can be returned', async (t) => {
  const engines: Record<string, readonly NodeGiven[]> = { ...TWO, second: [{ node: A }, { node: C }] }
  const { run, orders } = open(engines)
  await run({ node: A })
  engines['default'] = [{ node: B }, { node: C }]
  t.equal((await run({ node: A, back: true, engine: 'third' })).status, 409)
  t.match(await run({ node: A, back: true, engine: 'default' }), {
    status: 200,
    value: { engines: ['default'] },
  })
  t.same(orders[1], { node: A, drained: [{ engine: 'second', node: A, isForced: false }] })
})

t.test('two drains at the same time cannot drain both nodes of an engine', async (t) => {
  const { run } = open(TWO)
  const [one, other] = await Promise.all([run({ node: A }), run({ node: B })])
  t.equal(one.status, 200)
  t.match(other, { status: 503, value: { error: /Another drain is in progress/ } })
})

t.test('requests of another form, and nodes that no engine has, are refused', async (t) => {
  const { run, orders } = open(TWO)
  const bodies = [
    undefined,
    [],
    { node: 7 },
    { node: A, all: true },
    { node: A, force: 'yes' },
    { node: 'a' },
  ]
  for (const body of [...bodies, { node: C }, { node: A, engine: 'other' }, { node: A, back: 1 }])
    t.equal((await run(body)).status, 400, JSON.stringify(body))
  t.same(orders, [])
})

t.test('without a process that responds, nothing is drained', async (t) => {
  const { run, orders } = open(TWO, { answering: 0 })
  t.equal((await run({ node: A })).status, 503)
  t.same(orders, [])
})

t.test('a process that begins later drains the same nodes', async (t) => {
  const { run, drain } = open(TWO)
  const asked: unknown[] = []
  const ask = async (...call: readonly unknown[]) => void asked.push(call)
  drain.applyTo(ask)
  t.same(asked, [])
  await run({ node: A })
  drain.applyTo(ask)
  t.match(asked, [[DRAIN.name, { drained: [{ engine: 'default', node: A }] }]])
})

t.test('an order or a report of another form is rejected', async (t) => {
  const serving = { drainNodes: () => t.fail('drained'), runningAt: () => 0 }
  const orders = [null, {}, { node: A }, { node: A, drained: [{ engine: 'default', node: A }] }]
  for (const order of orders) t.throws(() => drainInProcess(serving, order))
  for (const report of [null, {}, { running: '1' }]) t.equal(DRAIN.isAnswer(report), false)
})
