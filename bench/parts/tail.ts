import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ConstantRateResult } from '../load/constant-rate.ts'
import { CORES, freePorts, pinned, startServer, type Server } from '../servers/processes.ts'
import { median } from '../report/report.ts'
import { AUTHORIZATION } from '../scenario.ts'
import { sendAtRate } from '../load/send-at-rate.ts'

// Measures latencies at constant rates. All servers share the second core, or both cores with `--cpus 2`, and are measured one after
// the other in each round. The built gateway is measured (npm run build), with its usual flags and with further flags of V8.

const NODE = process.execPath
const FLAGS = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring']
const WARM_UP = { perSecond: 3000, seconds: 6 }

interface Contender {
  readonly name: string
  readonly port: number
}

interface Plan {
  readonly perSecond: number
  readonly rounds: number
  readonly seconds: number
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rates: { type: 'string', default: '5000,10000' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '30' },
      flags: { type: 'string', multiple: true, default: [] },
      cpus: { type: 'string', default: '1' },
    },
  })
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  const running: Server[] = []
  try {
    const contenders = await startAll({
      directory,
      running,
      flags: values.flags,
      cores: coresOf(values.cpus),
    })
    for (const { port } of contenders) await send(port, WARM_UP)
    for (const perSecond of values.rates.split(',').map(Number))
      await measure(contenders, { perSecond, rounds: Number(values.rounds), seconds: Number(values.seconds) })
  } finally {
    for (const server of running.toReversed()) await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function coresOf(cpus: string): readonly number[] {
  if (cpus === '1') return [CORES.server]
  if (cpus === '2') return [CORES.load, CORES.server]
  throw new Error(`--cpus is 1 or 2, not ${cpus}`)
}

interface StartAll {
  readonly directory: string
  readonly running: Server[]
  readonly flags: readonly string[]
  /** The cores of the measured servers. */
  readonly cores: readonly number[]
}

async function startAll({ directory, running, flags, cores }: StartAll): Promise<readonly Contender[]> {
  const start = async (on: readonly number[], options: Parameters<typeof startServer>[0]): Promise<void> => {
    running.push(await startServer({ ...options, command: pinned(on, options.command) }))
  }
  const [stubPort = 0, leastPort = 0] = await freePorts(2)
  await start([CORES.load], {
    command: [NODE, fileOf('../servers/stub.ts'), '--port', `${stubPort}`],
    port: stubPort,
  })
  const contenders: Contender[] = []
  for (const further of ['', ...flags]) {
    const [port = 0, adminPort = 0] = await freePorts(2)
    await start(cores, {
      command: [
        NODE,
        ...FLAGS,
        ...further.split(' ').filter((flag) => flag !== ''),
        fileOf('../../dist/main.js'),
        '--config',
        fileOf('../servers/gateway.yaml'),
      ],
      port,
      env: {
        BENCH_GATEWAY_PORT: `${port}`,
        BENCH_ADMIN_PORT: `${adminPort}`,
        BENCH_STUB_PORT: `${stubPort}`,
      },
      output: openSync(join(directory, `access-${contenders.length}.log`), 'w'),
    })
    contenders.push({ name: `engine-gateway ${further}`.trim(), port })
  }
  const upstream = `http://127.0.0.1:${stubPort}`
  await start(cores, {
    command: [NODE, fileOf('../servers/one-dispatch.ts'), '--port', `${leastPort}`, '--upstream', upstream],
    port: leastPort,
  })
  return [...contenders, { name: 'Fastify, one dispatch', port: leastPort }]
}

async function measure(contenders: readonly Contender[], plan: Plan): Promise<void> {
  const results = contenders.map((): ConstantRateResult[] => [])
  for (let round = 0; round < plan.rounds; round += 1)
    for (const [index, { port }] of contenders.entries()) results[index]?.push(await send(port, plan))
  process.stdout.write(
    `${plan.perSecond} requests a second, medians of ${plan.rounds} rounds of ${plan.seconds} s\n`,
  )
  for (const [index, { name }] of contenders.entries())
    process.stdout.write(`  ${name.padEnd(40)} ${textOf(results[index] ?? [])}\n`)
}

function textOf(results: readonly ConstantRateResult[]): string {
  const at = (share: number) =>
    results.map(
      ({ waitsMs }) => waitsMs[Math.min(waitsMs.length - 1, Math.floor(waitsMs.length * share))] ?? 0,
    )
  const medians = [0.5, 0.99, 0.999, 1].map((share) => median(at(share)).toFixed(1))
  const unanswered = results.reduce((sum, one) => sum + one.unanswered, 0)
  const [p50, p99, p999, max] = medians
  return `p50 ${p50}  p99 ${p99}  p99.9 ${p999}  max ${max} (largest ${Math.max(...at(1)).toFixed(1)}) ms, ${unanswered} without a response`
}

function send(port: number, rate: Pick<Plan, 'perSecond' | 'seconds'>): Promise<ConstantRateResult> {
  const request = `GET /engine-rest/process-definition/key/invoice HTTP/1.1\r\nhost: gateway\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`
  return sendAtRate({ port, request, ...rate })
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

await main()
