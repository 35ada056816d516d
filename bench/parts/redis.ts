import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { OWN, type Part, type Plan, type Row, sampleOf, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { AUTHORIZATION, START_BODY } from '../scenario.ts'
import { type Gateway, RECORDS, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES, freePorts, startScript, startServer } from '../servers/processes.ts'

const GRANTS = [
  { type: 1, groupId: 'clerks', resourceType: 10, resourceId: '*', permissions: ['READ'] },
  { type: 1, groupId: 'clerks', resourceType: 9, resourceId: '*', permissions: ['READ', 'DELETE'] },
]
const RATE = { requests: 1_000_000, per: '1s' }
const CONCURRENCY = 8

/** The names of the rows from which docs/capacity.md is calculated. */
export const REDIS_CASES = {
  read: 'read without a rate',
  rate: 'read with limits.rate',
  key: 'write with an Idempotency-Key',
  filled: 'cached response, stored',
  memory: 'cached response, from memory',
  redis: 'cached response, from Redis',
  evict: 'write that evicts responses',
  idle: 'no request, each second',
} as const

/** The load of Redis by feature. */
export const redis: Part = {
  name: 'redis',
  title: 'Redis',
  measures:
    'The cost of one request for a Redis that the gateway uses: commands (those inside of scripts included), bytes, CPU time, and memory that it ' +
    'keeps. Diagrams have 8 KiB, the response to the write 400 bytes.',
  columns: [
    { key: 'commands', title: 'commands', unit: 'number' },
    { key: 'received', title: 'received by Redis', unit: 'bytes' },
    { key: 'sent', title: 'sent by Redis', unit: 'bytes' },
    { key: 'cpuMicros', title: 'CPU time of Redis', unit: 'µs' },
    { key: 'stored', title: 'stored', unit: 'bytes' },
  ],
  needs: ['redis-server'],
  isLeftOutOfQuick: true,
  run: async (plan) => {
    const [port = 0] = await freePorts(1)
    const command = [
      'redis-server',
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      plan.directory,
    ]
    await startServer({ command, port, core: ANY_CORE })
    const client = new Redis(port, '127.0.0.1')
    try {
      return await measureFeatures(plan, client, port)
    } finally {
      client.disconnect()
    }
  },
}

async function measureFeatures(plan: Plan, client: Redis, port: number): Promise<readonly Row[]> {
  const count = plan.isQuick ? 200 : 2_000
  const stub = await startScript('stub.ts', CORES.load)
  const start = (limits: Readonly<Record<string, unknown>>) =>
    startGateway({
      directory: plan.directory,
      checkout: plan.gateways.at(-1)?.path ?? '',
      core: ANY_CORE,
      nodes: [`http://127.0.0.1:${stub.port}/engine-rest`],
      settings: {
        limits: { ...limits, pressure: { eventLoopDelay: null } },
        cache: { memory: { maxBytes: '64MiB' }, redis: `redis://127.0.0.1:${port}` },
      },
      records: [...RECORDS, ...GRANTS],
    })
  const [first, second, limited] = [await start({}), await start({}), await start({ rate: RATE })]
  const rows: Row[] = []
  const add = async (name: string, each: number, run: () => Promise<unknown>) => {
    plan.log(`  ${name}`)
    const sample = await sampleOf(() => measure(client, each, run))
    rows.push({ case: name, server: OWN, samples: [sample] })
  }
  const key = '/process-definition/key/invoice'
  for (const gateway of [first, second, limited]) await call(gateway, 'GET', key)
  await add(REDIS_CASES.read, count, () => repeat(count, () => call(first, 'GET', key)))
  await add(REDIS_CASES.rate, count, () => repeat(count, () => call(limited, 'GET', key)))
  await add(REDIS_CASES.key, count, () =>
    repeat(count, () => call(first, 'POST', `${key}/start`, { 'idempotency-key': crypto.randomUUID() })),
  )
  await add(REDIS_CASES.filled, count, () => repeat(count, diagrams(first)))
  await add(REDIS_CASES.memory, count, () => repeat(count, diagrams(first)))
  await add(REDIS_CASES.redis, count, () => repeat(count, diagrams(second)))
  await add(REDIS_CASES.evict, count, () =>
    repeat(count, (at) => call(first, 'DELETE', `/deployment/deployment-${at}`)),
  )
  const seconds = plan.isQuick ? 2 : 10
  await add(REDIS_CASES.idle, seconds * 3, () => wait(seconds * 1000))
  return rows
}

/** Returns a function that requests the diagram with a number. */
function diagrams(gateway: Gateway): (at: number) => Promise<void> {
  return (at) => call(gateway, 'GET', `/decision-definition/key/dish${at}/diagram`)
}

/** Sends requests, some of them at the same time. */
async function repeat(count: number, request: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) await request(next++)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
}

async function call(
  { port }: Gateway,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  further: Readonly<Record<string, string>> = {},
): Promise<void> {
  const body = method === 'POST' ? { body: START_BODY } : {}
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {}
  const headers = { authorization: AUTHORIZATION, ...type, ...further }
  const response = await fetch(`http://127.0.0.1:${port}/engine-rest${path}`, { method, headers, ...body })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
}

/** Returns the change of the counters of Redis, divided by the number of requests. */
async function measure(client: Redis, each: number, run: () => Promise<unknown>): Promise<Values> {
  const before = await countersOf(client)
  const own = await countersOf(client)
  await run()
  // Some commands follow the response.
  await wait(300)
  const after = await countersOf(client)
  const of = (key: string) => {
    const cost = (own[key] ?? 0) - (before[key] ?? 0)
    return Math.max(0, ((after[key] ?? 0) - (own[key] ?? 0) - cost) / each)
  }
  return {
    commands: of('total_commands_processed'),
    received: of('total_net_input_bytes'),
    sent: of('total_net_output_bytes'),
    cpuMicros: (of('used_cpu_sys') + of('used_cpu_user')) * 1e6,
    stored: of('used_memory_dataset'),
  }
}

async function countersOf(client: Redis): Promise<Values> {
  const text = await client.info()
  return Object.fromEntries(
    [...text.matchAll(/^(\w+):([\d.]+)\r$/gm)].map(([, name, value]) => [name, Number(value)]),
  )
}

if (import.meta.main) await runAlone(redis)
