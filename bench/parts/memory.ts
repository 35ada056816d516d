import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { holdPolls } from '../../test/engine/held-polls.ts'
import { saturate } from '../load/saturate.ts'
import { requestText } from '../load/send.ts'
import { OWN, type Part, type Plan, type Row, sampleOf, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { AUTHORIZATION, LARGE_START_BODY, QUERY_BODY } from '../scenario.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES, startScript } from '../servers/processes.ts'
import { recordsFile } from '../servers/records-file.ts'

const READ = { path: '/engine-rest/process-definition/key/invoice' }
const TRAFFIC = [
  READ,
  { path: '/engine-rest/task', body: QUERY_BODY },
  { path: '/engine-rest/process-definition/key/invoice/start', body: LARGE_START_BODY },
]
const LIMITS = [
  { name: 'after traffic, no heap limit', flags: [] },
  { name: 'after traffic, heap limit 256 MiB', flags: ['--max-old-space-size=256'] },
  { name: 'after traffic, heap limit 128 MiB', flags: ['--max-old-space-size=128'] },
]
const REPORT_FLAGS = ['--import', fileURLToPath(new URL('../servers/report-memory.ts', import.meta.url))]
const REPORT_MS = 10_000

/** The names of the rows from which docs/capacity.md is calculated. */
export const MEMORY_CASES = {
  base: 'after the start',
  records: 'each 10,000 records',
  engine: 'each engine',
  connection: 'each connection',
  poll: 'each parked poll',
  limited: 'after traffic, heap limit 256 MiB',
} as const

/** The memory of a gateway, and its growth. */
export const memory: Part = {
  name: 'memory',
  title: 'Memory',
  measures:
    'The memory of one process. `in use` is the heap and the buffers after a garbage collection, `resident` is the memory that the system has given to the process. ' +
    'The rows that begin with `each` are the growth of both: with 100,000 records, 100 more engines, 2,000 open connections without a request, and ' +
    '2,000 parked long polls, connections included. The rows after traffic follow some seconds of reads, queries and writes of 57 KB as fast as possible.',
  columns: [
    { key: 'live', title: 'in use', unit: 'bytes' },
    { key: 'resident', title: 'resident', unit: 'bytes' },
  ],
  run: async (plan) => {
    const stub = await startScript('stub.ts', CORES.load)
    const start = (options: Partial<GatewayOptions> = {}) =>
      startGateway({
        directory: plan.directory,
        checkout: plan.gateways.at(-1)?.path ?? '',
        core: ANY_CORE,
        nodes: [`http://127.0.0.1:${stub.port}/engine-rest`],
        ...options,
        flags: [...REPORT_FLAGS, ...(options.flags ?? [])],
      })
    return [...(await measureGrowth(plan, start, stub.port)), ...(await measureTraffic(plan, start))]
  },
}

type Start = (options?: Partial<GatewayOptions>) => Promise<Gateway>

async function measureGrowth(
  { isQuick, log }: Plan,
  start: Start,
  stubPort: number,
): Promise<readonly Row[]> {
  const records = isQuick ? 20_000 : 100_000
  const engines = isQuick ? 20 : 100
  const clients = isQuick ? 500 : 2_000
  const rows: Row[] = []
  const add = async (name: string, measure: () => Promise<Values>) => {
    log(`  ${name}`)
    rows.push({ case: name, server: OWN, samples: [await sampleOf(measure)] })
  }
  let base: Values = {}
  await add(MEMORY_CASES.base, async () => (base = await measureStart(start, {})))
  await add(MEMORY_CASES.records, async () => {
    const values = await measureStart(start, { recordsText: recordsFile({ records }) })
    return growth(base, values, records / 10_000)
  })
  await add(MEMORY_CASES.engine, async () => {
    const names = ['default', ...Array.from({ length: engines }, (_, index) => `engine-${index}`)]
    const nodes = [`http://127.0.0.1:${stubPort}/engine-rest`]
    const settings = { engines: Object.fromEntries(names.map((name) => [name, { nodes }])) }
    return growth(base, await measureStart(start, { settings }), engines)
  })
  await add(MEMORY_CASES.connection, async () => {
    const gateway = await start()
    await send(gateway)
    const before = await memoryOf(gateway)
    const sockets = await openConnections(gateway, clients)
    const values = growth(before, await memoryOf(gateway), clients)
    for (const socket of sockets) socket.destroy()
    await gateway.stop()
    return values
  })
  await add(MEMORY_CASES.poll, async () => {
    const gateway = await start()
    await send(gateway)
    const before = await memoryOf(gateway)
    const address = `http://127.0.0.1:${gateway.port}/engine-rest`
    const polls = holdPolls(
      { address, headers: { authorization: AUTHORIZATION } },
      { count: clients, holdMs: 600_000 },
    )
    await polls.waiting
    await wait(1000)
    const values = growth(before, await memoryOf(gateway), clients)
    await polls.stop()
    await gateway.stop()
    return values
  })
  return rows
}

/** Returns whether docs/capacity.md needs the row. */
function isOfCapacity({ name }: (typeof LIMITS)[number]): boolean {
  return name === MEMORY_CASES.limited
}

async function measureTraffic({ directory, isQuick, log }: Plan, start: Start): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { name, flags } of isQuick ? LIMITS.filter(isOfCapacity) : LIMITS) {
    log(`  ${name}`)
    const sample = await sampleOf(async () => {
      const gateway = await start({ flags })
      for (const ask of TRAFFIC) await saturate(gateway, ask, { directory, seconds: isQuick ? 1 : 3 })
      const resident = gateway.residentBytes()
      const { live = Number.NaN } = await memoryOf(gateway)
      await gateway.stop()
      return { live, resident }
    })
    rows.push({ case: name, server: OWN, samples: [sample] })
  }
  return rows
}

async function measureStart(start: Start, options: Partial<GatewayOptions>): Promise<Values> {
  const gateway = await start(options)
  await send(gateway)
  const values = await memoryOf(gateway)
  await gateway.stop()
  return values
}

function growth(before: Values, after: Values, count: number): Values {
  const of = (key: string) => ((after[key] ?? Number.NaN) - (before[key] ?? Number.NaN)) / count
  return { live: of('live'), resident: of('resident') }
}

/** Sends some requests, so that the gateway has compiled and created what it keeps. */
async function send({ port }: Gateway): Promise<void> {
  for (let count = 0; count < 200; count += 1) {
    const headers = { authorization: AUTHORIZATION }
    const response = await fetch(`http://127.0.0.1:${port}${READ.path}`, { headers })
    await response.arrayBuffer()
  }
}

/** Returns the memory of a gateway after a garbage collection. @throws Error if the gateway does not report it */
async function memoryOf(gateway: Gateway): Promise<Values> {
  const reports = () => [
    ...readFileSync(join(gateway.directory, 'gateway.log'), 'latin1').matchAll(/^\{"memory":(\d+)\}$/gm),
  ]
  const count = reports().length
  process.kill(gateway.pid, 'SIGUSR2')
  const deadline = Date.now() + REPORT_MS
  while (reports().length === count) {
    if (Date.now() > deadline) throw new Error('the gateway does not report its memory')
    await wait(50)
  }
  return { live: Number(reports().at(-1)?.[1]), resident: gateway.residentBytes() }
}

/** Opens connections that each have sent one request. */
async function openConnections({ port }: Gateway, count: number): Promise<readonly Socket[]> {
  const request = requestText(READ)
  const sockets: Socket[] = []
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(request)
    await once(socket, 'data')
    sockets.push(socket)
  }
  return sockets
}

if (import.meta.main) await runAlone(memory)
