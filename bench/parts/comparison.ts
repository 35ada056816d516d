import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { numberOf } from '../arguments.ts'
import { failuresIn, requestText, send } from '../load/send.ts'
import { interleave, OWN, type Part, type Plan, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { type Gateway, metricsOf, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES } from '../servers/processes.ts'
import { urlOf } from '../../src/tls/listener-url.ts'

const PATH = '/engine-rest/process-definition/key/invoice'
const BODY = JSON.stringify({
  id: 'invoice:1:7f3a',
  key: 'invoice',
  name: 'Invoice',
  version: 1,
  tenantId: null,
})
const CONNECTIONS = 64

/** The waits of clients while the responses of two groups of nodes are compared. */
export const comparison: Part = {
  name: 'comparison',
  title: 'Comparison of two groups of nodes',
  measures:
    'Reads at a constant rate, with and without the comparison of all reads with those of a second group (`engines.NAME.compare`). A node needs ' +
    'the time of a usual read for each response. `compared` is the number of comparisons a second; a read for which there is no time is not compared.',
  columns: [
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'cpuMicros', title: 'CPU time of the gateway for each read', unit: 'µs' },
    { key: 'compared', title: 'compared', unit: 'per second' },
    { key: 'failed', title: 'failed', unit: 'number' },
  ],
  compared: 'p50',
  isExtra: true,
  options: { 'per-second': '100', 'engine-ms': '10' },
  run: async (plan) => {
    const engineMs = numberOf('engine-ms', plan.options['engine-ms'] ?? '', 0)
    const perSecond = numberOf('per-second', plan.options['per-second'] ?? '')
    const [old, next] = [await startNode(engineMs), await startNode(engineMs)]
    const start = (compare: Readonly<Record<string, unknown>>) =>
      startGateway({
        directory: plan.directory,
        checkout: plan.gateways.at(-1)?.path ?? '',
        core: ANY_CORE,
        nodes: [],
        settings: {
          engines: {
            default: {
              nodes: [
                { url: old.url, group: 'old' },
                { url: next.url, group: 'new' },
              ],
              shift: { to: 'new' },
              ...compare,
            },
          },
        },
      })
    const gateways = [
      { case: 'without comparison', gateway: await start({}) },
      { case: 'all reads are compared', gateway: await start({ compare: { rate: '100%' } }) },
    ]
    const trials = gateways.map(({ case: name, gateway }) => ({
      case: name,
      server: OWN,
      measure: () => measure(gateway, plan, perSecond),
    }))
    for (const { gateway } of gateways) await load(gateway, perSecond, plan.warmUpSeconds)
    const rows = await interleave(trials, plan.rounds)
    for (const { gateway } of gateways) await gateway.stop()
    old.close()
    next.close()
    return rows
  },
}

/** Starts a node that needs a time for each response. */
async function startNode(engineMs: number) {
  const server = createServer((_request, response) => {
    void wait(engineMs).then(() => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': BODY.length }).end(BODY)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `${urlOf(server, false)}/engine-rest`, close }
}

function load({ port }: Gateway, perSecond: number, seconds: number) {
  const options = { port, request: requestText({ path: PATH }), connections: CONNECTIONS, perSecond, seconds }
  return send(options, CORES.load)
}

async function measure(gateway: Gateway, { seconds }: Plan, perSecond: number): Promise<Values> {
  const [cpuBefore, comparedBefore] = [gateway.cpuSeconds(), await comparedAt(gateway)]
  const result = await load(gateway, perSecond, seconds)
  const [cpu, compared] = [gateway.cpuSeconds(), await comparedAt(gateway)]
  return {
    ...result.waits,
    cpuMicros: ((cpu - cpuBefore) * 1e6) / result.answered,
    compared: (compared - comparedBefore) / seconds,
    failed: failuresIn(result),
  }
}

/** Returns the number of comparisons that found both responses. */
async function comparedAt(gateway: Gateway): Promise<number> {
  const found = (await metricsOf(gateway)).matchAll(
    /^gateway_responses_compared_total\{.*?result="equal".*?\} (\d+)$/gm,
  )
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}

if (import.meta.main) await runAlone(comparison)
