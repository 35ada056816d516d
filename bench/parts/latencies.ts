import { chosenOf, numberOf } from '../arguments.ts'
import { failuresIn, requestText, send } from '../load/send.ts'
import { interleave, mergeRows, type Part, type Plan, type Row, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { DISPATCH, NGINX, startContenders } from '../servers/contenders.ts'
import { ANY_CORE, CORES, type Server, stopAll } from '../servers/processes.ts'

const REQUEST = requestText({ path: '/engine-rest/process-definition/key/invoice' })
const CONNECTIONS = 128
const WARM_UP_RATE = 3000
/** The waits of the first requests are longer by far, because their code is not compiled yet. */
const WARM_UPS = 3
/** The flag with which the chart starts a container with one core: docs/capacity.md. */
const ONE_CORE_FLAG = '--single-threaded-gc'

/** Latencies of reads at constant rates. */
export const latencies: Part = {
  name: 'latencies',
  title: 'Latencies at constant rates',
  measures:
    'Reads at a constant rate over 128 connections. A wait begins at the moment at which the request was due, also if no connection was ' +
    'free, so that a stall counts for every request that it delayed. With one core, the server is bound to a core of its own, and the gateway ' +
    'has the flag of V8 for one core (docs/capacity.md). With all cores, it may also use the core of the load and of the engine. Each server ' +
    'has had 27,000 requests before.',
  columns: [
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'p999', title: 'p99.9', unit: 'ms' },
    { key: 'max', title: 'longest', unit: 'ms' },
    { key: 'cpuMicros', title: 'CPU time for each request', unit: 'µs' },
    { key: 'failed', title: 'failed', unit: 'number' },
  ],
  compared: 'p99',
  options: { rates: '', cores: '', flags: '' },
  run: async (plan) => {
    const runs: (readonly Row[])[] = []
    const cores = plan.options['cores'] || (plan.isQuick ? 'all' : 'one,all')
    for (const one of chosenOf(cores, ['one', 'all'])) {
      runs.push(await measureOn(plan, one))
      await stopAll()
    }
    return mergeRows(runs)
  },
}

async function measureOn(plan: Plan, cores: string): Promise<readonly Row[]> {
  const { isQuick, options } = plan
  const listed = options['rates'] || (isQuick ? '1000' : '1000,5000,10000')
  const rates = listed.split(',').map((one) => numberOf('rates', one))
  const flags = (options['flags'] ?? '').split(',').filter((set) => set !== '')
  const [core, gatewayFlags] = cores === 'one' ? [CORES.server, [ONE_CORE_FLAG]] : [ANY_CORE, []]
  const { gateways, peers, nginx } = await startContenders(plan, { core, gatewayFlags, flags })
  const servers = [
    ...gateways,
    { name: DISPATCH, server: peers.dispatch },
    ...(nginx === null || isQuick ? [] : [{ name: NGINX, server: nginx.passing }]),
  ]
  for (const { server } of servers)
    await sendTo(server, WARM_UP_RATE, isQuick ? plan.warmUpSeconds : WARM_UPS * plan.warmUpSeconds)
  const rows: Row[] = []
  for (const rate of rates) {
    const name = `${rate.toLocaleString('en-US')} a second, ${cores === 'one' ? 'one core' : 'all cores'}`
    plan.log(`  ${name}`)
    const trials = servers.map((one) => ({
      case: name,
      server: one.name,
      measure: () => sendTo(one.server, rate, isQuick ? 1 : 3 * plan.seconds),
    }))
    rows.push(...(await interleave(trials, Math.ceil(plan.rounds * 0.6))))
  }
  return rows
}

async function sendTo(server: Server, perSecond: number, seconds: number): Promise<Values> {
  const before = server.cpuSeconds()
  const result = await send(
    { port: server.port, request: REQUEST, perSecond, seconds, connections: CONNECTIONS },
    CORES.load,
  )
  const cpuMicros = ((server.cpuSeconds() - before) / result.answered) * 1e6
  return { ...result.waits, cpuMicros, failed: failuresIn(result) }
}

if (import.meta.main) await runAlone(latencies)
