import t from 'tap'
import type { Dispatcher } from 'undici'
import type { Attempt, WireRequest } from '../../../src/proxy/attempts/attempt.ts'
import { Collector } from '../../../src/proxy/attempts/collector.ts'
import { Queue } from '../../../src/proxy/attempts/queue.ts'
import { sendWithRetries } from '../../../src/proxy/attempts/send-with-retries.ts'
import type { NodeConnection } from '../../../src/proxy/nodes/node-connection.ts'
import { createNode, type Node } from '../../../src/proxy/nodes/node.ts'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { READ, WRITE } from '../../support/fake-engine.ts'

/**
 * The outcome of one attempt. `unwritten`: the reused connection breaks before a byte is written. `stale`: it breaks afterwards.
 * `reset`: a new connection breaks.
 */
type Step = 'unwritten' | 'stale' | 'reset' | 'ok'

interface Sent {
  /** `ok`, or the code of the error. */
  readonly outcome: string
  /** `a` for an attempt on node `a`, `a!` if the attempt had a dedicated connection. */
  readonly attempts: readonly string[]
}

interface World {
  readonly nodes?: readonly string[]
  readonly hasBudget?: boolean
  /** The node that is free at each choice. Null if no node is free. The default is the first node that was not tried. */
  readonly free?: readonly (string | null)[]
}

async function send(
  upstreamRequest: UpstreamRequest,
  steps: readonly Step[],
  { nodes: names = ['a'], hasBudget = true, free = [] }: World = {},
): Promise<Sent> {
  const attempts: string[] = []
  const nodes = names.map((name) =>
    nodeOf(name, (handler, isDedicated) => {
      const step = steps[attempts.length]
      attempts.push(isDedicated ? `${name}!` : name)
      if (step !== undefined) queueMicrotask(() => play(step, handler))
    }),
  )
  const choices = [...free]
  const pick = (tried: readonly Node[]): Node | null => {
    const choice = choices.shift()
    const isOpen = (node: Node) =>
      choice === undefined ? !tried.includes(node) : node.name.includes(`//${choice}:`)
    return nodes.find(isOpen) ?? null
  }
  const options = {
    pick,
    isUnreachable: () => false,
    budget: { deposit: () => undefined, withdraw: () => hasBudget },
    queue: new Queue({ max: 0, waitMs: 0 }),
    slow: null,
    now: () => 0,
    random: () => 0,
    onAttempt: undefined,
    engine: 'default',
    traced: undefined,
  }
  const { method, path, body } = upstreamRequest
  const times = { headersMs: Infinity, bodyMs: 60_000, responseMs: 60_000 }
  const request: WireRequest = { method, path, headers: [], body, ...times }
  const outcome = await sendWithRetries(options, upstreamRequest, request, new Collector(method, 1000)).then(
    () => 'ok',
    (error: Error) => ('code' in error ? String(error.code) : error.message),
  )
  return { outcome, attempts }
}

function nodeOf(name: string, dispatch: (handler: Attempt, isDedicated: boolean) => void): Node {
  const node = createNode({
    url: `http://${name}:8080`,
    suffix: '',
    connections: 8,
    connectMs: 1000,
    weight: 1,
    isDrained: false,
    group: null,
    now: () => 0,
    onChange: () => undefined,
  })
  const pool = { dispatch: (_options: unknown, ...rest: Parameters<typeof dispatch>) => dispatch(...rest) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an attempt uses only this member of a pool
  return { ...node, pool: pool as unknown as Node['pool'] }
}

function play(step: Step, handler: Attempt): void {
  const isFresh = step === 'ok' || step === 'reset'
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an attempt uses only these members of a connection
  handler.onConnection({ isFresh, hasSocket: true, wroteNothing: () => false } as unknown as NodeConnection)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this test pauses and aborts no request
  if (step !== 'unwritten') handler.onRequestStart({} as Dispatcher.DispatchController)
  if (step !== 'ok')
    return handler.onResponseError(null, Object.assign(new Error(step), { code: 'ECONNRESET' }))
  handler.onResponseStart(null, 204, {})
  handler.onResponseEnd()
}

t.test('a request that was not written is sent again on new connections, up to three times', async (t) => {
  for (const request of [READ, WRITE]) {
    t.same(await send(request, ['unwritten', 'unwritten', 'unwritten', 'ok']), {
      outcome: 'ok',
      attempts: ['a', 'a!', 'a!', 'a!'],
    })
    const four: readonly Step[] = ['unwritten', 'unwritten', 'unwritten', 'unwritten', 'ok']
    t.same(await send(request, four), { outcome: 'GW_NO_NODE', attempts: ['a', 'a!', 'a!', 'a!'] })
    const { attempts } = await send(request, four, { nodes: ['a', 'b'] })
    t.same(attempts, ['a', 'a!', 'a!', 'a!', 'b'], 'another node is not suspected')
  }
})

t.test('an unwritten request is sent to any free node, or to the same node if none is free', async (t) => {
  const steps = ['unwritten', 'ok'] as const
  const nodes = ['a', 'b']
  t.same((await send(WRITE, steps, { nodes, free: ['a', 'b'] })).attempts, ['a', 'b!'])
  t.same((await send(WRITE, steps, { nodes, free: ['b', null] })).attempts, ['b', 'b!'])
})

t.test('a read that was written is sent on a new connection once, and retried once', async (t) => {
  t.same(await send(READ, ['stale', 'ok']), { outcome: 'ok', attempts: ['a', 'a!'] })
  t.same(await send(READ, ['stale', 'ok'], { nodes: ['a', 'b'] }), { outcome: 'ok', attempts: ['a', 'b!'] })
  const failed = await send(READ, ['stale', 'stale', 'stale', 'ok'])
  t.same(failed, { outcome: 'GW_UPSTREAM_FAILED', attempts: ['a', 'a!', 'a'] })
})

t.test('only the attempt after the broken connection has a dedicated connection', async (t) => {
  t.same(await send(READ, ['stale', 'reset', 'ok']), { outcome: 'ok', attempts: ['a', 'a!', 'a'] })
})

t.test('a read that was written is retried while the retry budget lasts, and a write never', async (t) => {
  const spent = await send(READ, ['stale', 'ok'], { hasBudget: false })
  t.same(spent, { outcome: 'GW_UPSTREAM_FAILED', attempts: ['a'] })
  t.same(await send(WRITE, ['stale', 'ok']), { outcome: 'GW_OUTCOME_UNKNOWN', attempts: ['a'] })
})
