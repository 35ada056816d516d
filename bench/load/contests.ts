import { interleave, mergeRows, type Plan, type Row, type Trial } from '../part.ts'
import { type Server, stopAll } from '../servers/processes.ts'
import { saturate } from './saturate.ts'
import type { Ask } from './send.ts'

export const COST_COLUMNS = [
  { key: 'cpuMicros', title: 'CPU time for each request', unit: 'µs' },
  { key: 'perSecond', title: 'requests per second', unit: 'number' },
] as const

/** Warm-ups of the first contest after a start: V8 compiles the code of the gateway for the last time after about 200,000 requests. */
const START_WARM_UPS = 3

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
    for (const [at, contest] of (await start()).entries())
      runs.push(await measureContest(plan, contest, at === 0 && !plan.isQuick ? START_WARM_UPS : 1))
    await stopAll()
  }
  return mergeRows(runs)
}

async function measureContest(plan: Plan, contest: Contest, warmUps: number): Promise<readonly Row[]> {
  const { case: name, ask, servers } = contest
  const { directory, seconds } = plan
  const warmUpSeconds = warmUps * plan.warmUpSeconds
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
