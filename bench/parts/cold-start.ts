import { rmSync } from 'node:fs'
import { saturate } from '../load/saturate.ts'
import { interleave, type Part, type Plan, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { startGateway } from '../servers/gateway.ts'
import { CORES, startScript } from '../servers/processes.ts'

const ASK = { path: '/engine-rest/process-definition/key/invoice' }

/** The cost of a start, and of the first requests. */
export const coldStart: Part = {
  name: 'cold-start',
  title: 'Start',
  measures:
    'A start of the gateway: until `/readyz` is 200, and then reads as fast as possible for some seconds. `first second` and `later` are the CPU ' +
    'time of a request in the first and in the last of these seconds.',
  columns: [
    { key: 'readySeconds', title: 'CPU time until ready', unit: 's' },
    { key: 'readyMs', title: 'until ready', unit: 'ms' },
    { key: 'first', title: 'request in the first second', unit: 'µs' },
    { key: 'later', title: 'request later', unit: 'µs' },
    { key: 'ratio', title: 'first ÷ later', unit: 'number' },
  ],
  run: async (plan) => {
    const stub = await startScript('stub.ts', CORES.load)
    const trials = plan.gateways.map(({ name, path }) => ({
      case: 'start',
      server: name,
      measure: () => measureStart(plan, path, stub.port),
    }))
    return interleave(trials, Math.ceil(plan.rounds * 0.6))
  },
}

async function measureStart(plan: Plan, checkout: string, stubPort: number): Promise<Values> {
  const { directory, isQuick } = plan
  const startedAt = performance.now()
  const gateway = await startGateway({
    directory,
    checkout,
    core: CORES.server,
    nodes: [`http://127.0.0.1:${stubPort}/engine-rest`],
  })
  const [readySeconds, readyMs] = [gateway.cpuSeconds(), performance.now() - startedAt]
  const cpu: number[] = []
  for (let second = 0; second < (isQuick ? 3 : 8); second += 1)
    cpu.push((await saturate(gateway, ASK, { directory, seconds: 1 }))['cpuMicros'] ?? Number.NaN)
  await gateway.stop()
  rmSync(gateway.directory, { recursive: true })
  const [first = Number.NaN, later = Number.NaN] = [cpu[0], cpu.at(-1)]
  return { readySeconds, readyMs, first, later, ratio: first / later }
}

if (import.meta.main) await runAlone(coldStart)
