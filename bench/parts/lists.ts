import { saturate } from '../load/saturate.ts'
import { interleave, OWN, type Part, type Row, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { startContenders, DISPATCH } from '../servers/contenders.ts'
import { type Gateway, metricsOf, RECORDS } from '../servers/gateway.ts'

const SIZES = [10, 250]
/** The caller may see every other deployment of the stub. */
const VISIBLE = Array.from({ length: 500 }, (_, index) => ({
  type: 1,
  groupId: 'clerks',
  resourceType: 9,
  resourceId: `deployment-${index * 2}`,
  permissions: ['READ'],
}))

/** The CPU time of lists that the gateway reads and filters. */
export const lists: Part = {
  name: 'lists',
  title: 'Restricted lists',
  measures:
    'Lists of deployments for a caller who may see every other deployment. The gateway reads deployments from the engine until a page of ' +
    'visible ones is full, and decides about each of them. `each item read` is the difference of the two lists, divided by the difference of ' +
    'the items that the gateway read. Fastify forwards a list of the same length without reading it.',
  columns: [
    { key: 'cpuMicros', title: 'CPU time', unit: 'µs' },
    { key: 'read', title: 'items read', unit: 'number' },
    { key: 'perSecond', title: 'requests per second', unit: 'number' },
  ],
  compared: 'cpuMicros',
  run: async (plan) => {
    const { gateways, peers } = await startContenders(plan, { records: [...RECORDS, ...VISIBLE] })
    const rows: Row[] = []
    for (const size of SIZES) {
      const ask = { path: `/engine-rest/deployment?maxResults=${size}` }
      const servers = [...gateways, ...(plan.isQuick ? [] : [{ name: DISPATCH, server: peers.dispatch }])]
      for (const { server } of servers)
        await saturate(server, ask, { directory: plan.directory, seconds: plan.warmUpSeconds })
      const trials = servers.map(({ name, server }) => ({
        case: `page of ${size}`,
        server: name,
        measure: async () => {
          const values = () => saturate(server, ask, { directory: plan.directory, seconds: plan.seconds })
          return 'adminPort' in server ? withItemsRead(server, values) : values()
        },
      }))
      rows.push(...(await interleave(trials, plan.rounds)))
    }
    return [...rows, slopeOf(rows)]
  },
}

/** Adds the number of items that the gateway read for each request. */
async function withItemsRead(gateway: Gateway, measure: () => Promise<Values>): Promise<Values> {
  const before = await countsOf(gateway)
  const values = await measure()
  const after = await countsOf(gateway)
  return { ...values, read: (after.read - before.read) / (after.requests - before.requests) }
}

async function countsOf(gateway: Gateway): Promise<{ readonly read: number; readonly requests: number }> {
  const text = await metricsOf(gateway)
  const sum = (pattern: RegExp) =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  return {
    read: sum(/^gateway_list_items_total\{.*\} (\d+)$/gm),
    requests: sum(/^gateway_list_plans_total\{.*\} (\d+)$/gm),
  }
}

/** Returns the cost of each item that was read, by the difference of the two lists in each round. */
function slopeOf(rows: readonly Row[]): Row {
  const [few, many] = SIZES.map((size) =>
    rows.find((row) => row.case === `page of ${size}` && row.server === OWN),
  )
  const samples = (few?.samples ?? []).flatMap((short, round) => {
    const long = many?.samples[round]
    if (long === undefined) return []
    const of = (key: string) => (long.values[key] ?? Number.NaN) - (short.values[key] ?? Number.NaN)
    return [
      { values: { cpuMicros: of('cpuMicros') / of('read') }, foreign: Math.max(short.foreign, long.foreign) },
    ]
  })
  return { case: 'each item read', server: OWN, samples }
}

if (import.meta.main) await runAlone(lists)
