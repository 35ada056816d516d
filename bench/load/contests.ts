import { interleave, mergeRows, type Plan, type Row, type Trial } from '../part.ts'
import { type Server, stopAll } from '../servers/processes.ts'
import { saturate } from './saturate.ts'
import type { Ask } from './send.ts'

export const COST_COLUMNS = [
  { key: 'cpuMicros', title: 'CPU time for each request', unit: 'µs' },
  { key: 'perSecond', title: 'requests per second', unit: 'number' },
] as const

/** A request, and the servers that are compared with it. */
export interface Contest {
  readonly case: string
  readonly ask: Ask
  readonly servers: readonly { readonly name: string; readonly server: Server }[]
}

/**
 * Measures the CPU time of requests under saturation. `start` starts new servers several times, because two processes of one build may
 * differ by a third as long as they run.
 */
export async function measureContests(
  plan: Plan,
  starts: number,
  start: () => Promise<readonly Contest[]>,
): Promise<readonly Row[]> {
  const runs: (readonly Row[])[] = []
  for (let count = 0; count < starts; count += 1) {
    for (const contest of await start()) runs.push(await measureContest(plan, contest))
    await stopAll()
  }
  return mergeRows(runs)
}

async function measureContest(plan: Plan, { case: name, ask, servers }: Contest): Promise<readonly Row[]> {
  const { directory, seconds, warmUpSeconds } = plan
  plan.log(`  ${name}`)
  for (const { server } of servers) await saturate(server, ask, { directory, seconds: warmUpSeconds })
  const trials = servers.map(
    (one): Trial => ({
      case: name,
      server: one.name,
      measure: () => saturate(one.server, ask, { directory, seconds }),
    }),
  )
  return interleave(trials, Math.ceil(plan.rounds * 0.6))
}
