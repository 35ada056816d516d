import { saturate } from '../load/saturate.ts'
import { interleave, type Part } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { DISPATCH, NGINX, startContenders } from '../servers/contenders.ts'
import { type Gateway, startGateway } from '../servers/gateway.ts'
import { ANY_CORE } from '../servers/processes.ts'

const ASK = { path: '/engine-rest/process-definition/key/invoice' }
/** Connections that the server has closed keep their port for a minute, so a round is short. */
const SECONDS = 1

/** The rate of new connections. */
export const connections: Part = {
  name: 'connections',
  title: 'New connections',
  measures:
    'Reads that each open a new connection, as fast as possible. With `workers: 2`, a second of the same load precedes each round, so ' +
    'that the workers accept connections themselves. The servers may use all cores, which they share with the load and the engine.',
  columns: [
    { key: 'perSecond', title: 'connections per second', unit: 'number' },
    { key: 'cpuMicros', title: 'CPU time for each', unit: 'µs' },
  ],
  compared: 'perSecond',
  run: async (plan) => {
    const { stub, gateways, peers, nginx } = await startContenders(plan, { core: ANY_CORE })
    const workers: { readonly name: string; readonly server: Gateway }[] = []
    for (const { name, path } of plan.gateways) {
      const server = await startGateway({
        directory: plan.directory,
        checkout: path,
        core: ANY_CORE,
        nodes: [`http://127.0.0.1:${stub.port}/engine-rest`],
        settings: { workers: 2 },
      })
      workers.push({ name: `${name}, 2 workers`, server })
    }
    const servers = [
      ...gateways,
      ...workers,
      { name: DISPATCH, server: peers.dispatch },
      ...(nginx === null ? [] : [{ name: NGINX, server: nginx.passing }]),
    ]
    const options = { directory: plan.directory, seconds: SECONDS, isNewConnection: true }
    for (const { server } of servers) {
      if (!plan.isQuick)
        await saturate(server, ASK, { directory: plan.directory, seconds: plan.warmUpSeconds })
      await saturate(server, ASK, options)
    }
    const trials = servers.map(({ name, server }) => ({
      case: 'new connection',
      server: name,
      measure: () => saturate(server, ASK, options),
      ...(workers.some((one) => one.server === server)
        ? { prepare: () => saturate(server, ASK, options) }
        : {}),
    }))
    return interleave(trials, plan.rounds)
  },
}

if (import.meta.main) await runAlone(connections)
