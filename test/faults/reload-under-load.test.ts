import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'
import { type Started, startWorkers } from '../support/started-workers.ts'

const MIB = 1024 ** 2
/** A module with which the process logs the used size of its heap. */
const HEAP = new URL('heap-on-sigusr2.mjs', import.meta.url).href
const START = '/process-definition/key/review/start'

const node = await startNode(t, (_request, response) =>
  response.setHeader('content-type', 'application/json').end('{"id":"1"}'),
)

/** Returns a different configuration for every round. */
function settingsOf(round: number, more: Readonly<Record<string, unknown>>) {
  const limits = { body: `${1 + (round % 7)}MiB` }
  return { engines: { default: { nodes: [node.url + BASE] } }, health: { probe: false }, limits, ...more }
}

interface Load {
  readonly sent: number
  /** Requests without a response or with an unexpected status. */
  readonly lost: readonly string[]
  /** Requests refused because Redis did not respond in time, as on an overloaded machine. None of them was sent to the engine. */
  readonly refused: number
}

/** Sends reads and writes on persistent connections until it is stopped. */
function load(address: string, isKeyed: boolean) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const lost: string[] = []
  const over = new AbortController()
  let sent = 0
  let refused = 0
  const ask = (method: string, path: string): Promise<void> =>
    new Promise((resolve) => {
      sent += 1
      const key = isKeyed && method === 'POST' ? { 'idempotency-key': `k${sent}` } : {}
      const headers = {
        authorization: authorizationOf('demo'),
        'content-type': 'application/json',
        ...key,
      }
      const asked = request(address + BASE + path, { agent, method, headers }, (response) => {
        if (response.headers['x-gateway-error'] === 'GW_IDEMPOTENCY_UNAVAILABLE') refused += 1
        else if (response.statusCode !== 200) lost.push(`${method} ${path}: ${response.statusCode}`)
        response.resume().once('close', resolve)
      })
      asked.once('error', (error) => {
        lost.push(`${method} ${path}: ${error.message}`)
        resolve()
      })
      asked.end(method === 'POST' ? '{}' : undefined)
    })
  const loops = [
    ['GET', '/version'],
    ['GET', '/engine'],
    ['GET', '/task/1'],
    ['POST', START],
    ['POST', START],
  ].map(async ([method = '', path = '']) => {
    while (!over.signal.aborted) {
      await ask(method, path)
      await wait(10)
    }
  })
  return async (): Promise<Load> => {
    over.abort()
    await Promise.all(loops)
    agent.destroy()
    return { sent, lost, refused }
  }
}

/** Returns the heap in use after garbage collection, and the resident memory. */
async function memoryOf(gateway: Started) {
  const before = gateway.lines().findLast(({ msg }) => msg === 'heap')
  gateway.kill('SIGUSR2')
  const { bytes } = await gateway.line({ msg: 'heap' }, before)
  const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8')
  return { heap: Number(bytes), resident: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024 }
}

function inMiB(bytes: number): number {
  return Math.round(bytes / MIB)
}

interface Run {
  readonly reloads: number
  readonly settings: Readonly<Record<string, unknown>>
}

/** Reloads under load. Returns the measurements. */
async function run(t: Test, { reloads, settings }: Run) {
  const gateway = await startWorkers(t, settingsOf(0, settings), { preload: HEAP })
  const stop = load(gateway.address, 'cache' in settings)
  const memory = new Map<number, { readonly heap: number; readonly resident: number }>()
  for (let round = 1; round <= reloads; round += 1) {
    await gateway.write(settingsOf(round, settings))
    const { status, text } = await gateway.admin('/reload', { method: 'POST' })
    if (status !== 200) t.fail(text)
    if (round % (reloads / 10) === 0) memory.set(round, await memoryOf(gateway))
  }
  const { sent, lost, refused } = await stop()
  const told = [...memory].map(
    ([round, { heap, resident }]) => `${round}: ${inMiB(heap)} of ${inMiB(resident)}`,
  )
  t.comment(
    `${sent} requests, ${lost.length} lost, ${refused} refused; MiB in use of those resident after ${told.join(', ')}`,
  )
  t.same(lost, [])
  t.ok(refused <= sent / 100, `${refused} refused`)
  const heaps = [...memory.values()].map(({ heap }) => heap)
  const half = heaps.length / 2
  // The minimum of each half, because a request or a timer may hold memory temporarily.
  return { sent, grownBytes: Math.min(...heaps.slice(half)) - Math.min(...heaps.slice(0, half)) }
}

t.test('200 reloads under load lose no request and leak no memory', { timeout: 280_000 }, async (t) => {
  const { sent, grownBytes } = await run(t, { reloads: 200, settings: { workers: 1 } })
  t.ok(sent > 1000, `${sent} requests`)
  // A hundred generations that remained in memory would take as much.
  t.ok(grownBytes < 15 * MIB, `${grownBytes} bytes more in the second half`)
})

t.test('60 reloads with Redis lose and leak nothing', { skip: redisSkip, timeout: 280_000 }, async (t) => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const settings = { workers: 1, cache: { redis: redis.url } }
  const { sent, grownBytes } = await run(t, { reloads: 60, settings })
  t.ok(sent > 300, `${sent} requests`)
  t.ok(grownBytes < 15 * MIB, `${grownBytes} bytes more in the second half`)
})
