import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { loadConfig } from '../../../src/config/config.ts'
import { isRecord } from '../../../src/request/value.ts'
import { type Running, start } from '../../support/start.ts'
import { javaSkip } from '../../support/requirements.ts'
import { startDatabase } from '../../engine/database.ts'
import { type Engine, startEngine } from '../../engine/engine.ts'
import { exchange } from '../../engine/exchange.ts'
import { seed } from '../../engine/seed.ts'

const DEMO = new URL('../../../config/', import.meta.url).pathname
const HEADERS = { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` }
const EVERY_MS = 25

interface RestartedGateway {
  readonly file: string
  running: Running
}

/** Two nodes on one database, with the gateway in front of them. */
interface Cluster {
  readonly nodes: Engine[]
  readonly db: string
  readonly gateway: RestartedGateway
}

t.test('two nodes with one database restart under load', { skip: javaSkip, timeout: 240_000 }, async (t) => {
  const database = await startDatabase()
  t.teardown(() => database.stop())
  const nodes = [await startEngine({ db: database.url }), await startEngine({ db: database.url })]
  await seed(nodes[0]?.base ?? '')
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, configOf(nodes))
  const gateway: RestartedGateway = { file, running: await open(file) }
  t.teardown(async () => {
    await gateway.running.drain()
    await Promise.all(nodes.map((node) => node.stop()))
    await rm(folder, { recursive: true })
  })
  const cluster = { nodes, db: database.url, gateway }

  await t.test(
    'a drained node is busy as long as it holds a long poll, whose client waits elsewhere',
    async (t) => {
      const polled = fetchAndLock(gateway)
      await delay(500)
      const drained = []
      for (const { base: node } of nodes) {
        drained.push({ node, running: await drain(gateway, { node }) })
        await drain(gateway, { node, back: true })
      }
      const last = drained.at(-1)
      t.match(last, { running: 1 }, 'the poll was there, or came from the other node')
      t.match(await polled, { status: 200, body: [] })
      const node = last?.node ?? ''
      while ((await drain(gateway, { node })) > 0) await delay(100)
      await drain(gateway, { node, back: true })
    },
  )

  await t.test('a restart of drained nodes one after the other fails no request', async (t) => {
    const load = startLoad(gateway)
    for (const index of nodes.keys()) await restart(cluster, index)
    const { asked, failed, started } = await load.end()
    t.same(failed, [])
    t.ok(asked > 200, `${asked} requests`)
    t.same(await keptOnce(cluster, load.prefix), started.toSorted(), 'every key is there once')
  })

  await t.test(
    'no request fails while a gateway restarts behind a load balancer that uses its readiness',
    async (t) => {
      const load = startLoad(gateway)
      await delay(500)
      const old = gateway.running
      gateway.running = await open(file)
      // As `preStop` does: requests that the balancer has just sent arrive before the old gateway stops listening.
      await delay(500)
      await old.drain()
      await delay(500)
      const { failed, started } = await load.end()
      t.same(failed, [])
      t.same(await keptOnce(cluster, load.prefix), started.toSorted())
    },
  )

  await t.test('a killed node fails no read, and no write is executed twice', async (t) => {
    const load = startLoad(gateway)
    await delay(500)
    const [, second] = nodes
    if (second !== undefined) process.kill(second.pid, 'SIGKILL')
    await delay(3000)
    const { failed, started } = await load.end()
    t.same(
      failed.filter((what) => !what.startsWith('POST 502 GW_OUTCOME_UNKNOWN')),
      [],
      'but writes whose fate is unknown',
    )
    const kept = await keptOnce(cluster, load.prefix)
    t.same(
      started.filter((key) => !kept.includes(key)),
      [],
      'what was answered is there',
    )
    t.ok(kept.length <= started.length + failed.length)
  })
})

function open(file: string): Promise<Running> {
  return start(loadConfig(file), pino({ level: 'silent' }), file)
}

function configOf(nodes: readonly Engine[]): string {
  const list = nodes.map(({ base }) => `"${base}"`)
  return `
version: 1
listen: { port: 0 }
admin: { port: 0 }
log: { audit: off }
limits: { queue: { wait: 30s, target: 30s }, pressure: { eventLoopDelay: null } } # one node that carries all on a busy machine is slow, which is not what is asked here
engines: { default: { nodes: [${list.join(', ')}] } }
health: { interval: 1s }
identity: { source: file, file: ${DEMO}users.yaml }
authorization: { records: { source: file, file: ${DEMO}authorizations.yaml } }
`
}

/** Sends a long poll that waits for two seconds, for a topic without tasks. */
function fetchAndLock({ running }: RestartedGateway) {
  const topics = [{ topicName: 'a topic without tasks', lockDuration: 1000 }]
  const body = { workerId: 'a test', maxTasks: 1, asyncResponseTimeout: 2000, topics }
  return exchange(
    `${running.address}/engine-rest`,
    { method: 'POST', path: '/external-task/fetchAndLock', body },
    HEADERS,
  )
}

/** Restarts a node as described in docs/rolling-restart.md. */
async function restart({ nodes, db, gateway }: Cluster, index: number): Promise<void> {
  const node = nodes[index]
  if (node === undefined) throw new Error(`There is no node ${index}`)
  while ((await drain(gateway, { node: node.base })) > 0) await delay(100)
  await node.stop()
  nodes[index] = await startEngine({ db, port: node.port })
  await drain(gateway, { node: node.base, back: true })
  await delay(1000)
}

/** The number of times that a refused drain is repeated, twice a second. */
const DRAIN_TRIES = 120

/**
 * Drains or returns a node. Resolves to the number of requests that run there. The drain is refused until the gateway has noticed
 * that the other node responds again.
 */
async function drain({ running }: RestartedGateway, request: object): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-requested-by': 'a test' }
  const init = { method: 'POST', headers, body: JSON.stringify(request) }
  let result: unknown = null
  for (let tries = 0; tries < DRAIN_TRIES; tries += 1) {
    const response = await fetch(`${running.adminAddress}/nodes/drain`, init)
    result = await response.json()
    if (response.status === 200 && isRecord(result)) return Number(result['running'])
    if (response.status !== 409) break
    await delay(500)
  }
  throw new Error(`The drain was refused: ${JSON.stringify(result)}`)
}

/** Sends reads and starts alternately, at a steady pace however long the responses take. */
function startLoad(gateway: RestartedGateway) {
  const prefix = `${randomUUID()}-`
  const failed: string[] = []
  const started: string[] = []
  const underWay = new Set<Promise<void>>()
  let asked = 0
  const ask = async (at: number): Promise<void> => {
    const key = `${prefix}${at}`
    const isRead = at % 2 === 0
    const what = isRead
      ? ({ method: 'GET', path: '/process-definition/count' } as const)
      : ({
          method: 'POST',
          path: '/process-definition/key/review/start',
          body: { businessKey: key },
        } as const)
    const answer = await exchange(`${gateway.running.address}/engine-rest`, what, HEADERS).catch(String)
    if (typeof answer === 'string') failed.push(`${what.method} ${answer}`)
    else if (answer.status !== 200)
      failed.push(`${what.method} ${answer.status} ${answer.headers.get('x-gateway-error')}`)
    else if (!isRead) started.push(key)
  }
  const pace = setInterval(() => {
    const one: Promise<void> = ask(asked).finally(() => underWay.delete(one))
    underWay.add(one)
    asked += 1
  }, EVERY_MS)
  return {
    prefix,
    end: async () => {
      clearInterval(pace)
      await Promise.all(underWay)
      return { asked, failed, started }
    },
  }
}

/**
 * Returns the sorted business keys in the engine's history.
 * @throws Error if a key appears twice
 */
async function keptOnce({ nodes }: Cluster, prefix: string): Promise<readonly string[]> {
  const { body } = await exchange(nodes[0]?.base ?? '', {
    method: 'POST',
    path: '/history/process-instance',
    body: { processInstanceBusinessKeyLike: `${prefix}%` },
  })
  const keys = Array.isArray(body) ? body.map(({ businessKey }) => String(businessKey)) : []
  if (new Set(keys).size !== keys.length) throw new Error('A business key was started twice')
  return keys.toSorted()
}
