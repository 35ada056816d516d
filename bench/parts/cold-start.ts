import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load } from '../load/wrk.ts'
import { CORES, freePorts, has, pinned, startServer } from '../servers/processes.ts'
import { median } from '../report/report.ts'
import { AUTHORIZATION } from '../scenario.ts'

// Measures a start of the built gateway (npm run build): the CPU time until it is ready, and the CPU time of a request in the first
// second of traffic and after eight seconds.

const NODE = process.execPath
const FLAGS = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring']
const SECONDS = 9

interface Start {
  readonly readyCpuSeconds: number
  readonly readyMs: number
  /** CPU time of a request in each second of traffic, in microseconds. */
  readonly cpuMicros: readonly number[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { starts: { type: 'string', default: '5' }, main: { type: 'string', default: 'dist/main.js' } },
  })
  if (!has('wrk')) {
    process.stdout.write('Not measured: wrk is not installed.\n')
    return
  }
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  const starts: Start[] = []
  try {
    for (let index = 0; index < Number(values.starts); index += 1)
      starts.push(await measureStart(directory, values.main))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  const first = median(starts.map(({ cpuMicros }) => cpuMicros[0] ?? 0))
  const last = median(starts.map(({ cpuMicros }) => cpuMicros.at(-1) ?? 0))
  const cpu = median(starts.map(({ readyCpuSeconds }) => readyCpuSeconds))
  const ms = median(starts.map(({ readyMs }) => readyMs))
  const lines = [
    `until ready: ${cpu.toFixed(2)} s CPU, ${ms.toFixed(0)} ms`,
    `a read in the first second: ${first.toFixed(0)} µs CPU, in second ${SECONDS}: ${last.toFixed(0)} µs, ratio ${(first / last).toFixed(2)}`,
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function measureStart(directory: string, mainFile: string): Promise<Start> {
  const [stubPort = 0, port = 0, adminPort = 0] = await freePorts(3)
  const stub = await startServer({
    command: pinned(CORES.load, [NODE, fileOf('../servers/stub.ts'), '--port', `${stubPort}`]),
    port: stubPort,
  })
  const startedMs = performance.now()
  const gateway = await startServer({
    command: pinned(CORES.server, [NODE, ...FLAGS, mainFile, '--config', fileOf('../servers/gateway.yaml')]),
    port,
    env: {
      BENCH_GATEWAY_PORT: `${port}`,
      BENCH_ADMIN_PORT: `${adminPort}`,
      BENCH_STUB_PORT: `${stubPort}`,
    },
  })
  try {
    while (!(await isReady(adminPort))) await new Promise((resolve) => setTimeout(resolve, 50))
    const readyCpuSeconds = gateway.cpuSeconds()
    const readyMs = performance.now() - startedMs
    const cpuMicros: number[] = []
    const ask = {
      url: `http://127.0.0.1:${port}/engine-rest/process-definition/key/invoice`,
      authorization: AUTHORIZATION,
    }
    for (let second = 0; second < SECONDS; second += 1)
      cpuMicros.push((await load(ask, gateway, { directory, seconds: 1 })).cpuMicros)
    return { readyCpuSeconds, readyMs, cpuMicros }
  } finally {
    await gateway.stop()
    await stub.stop()
  }
}

async function isReady(adminPort: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => null)
  return response?.status === 200
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

await main()
