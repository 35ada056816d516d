import { mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { ConstantRateResult } from '../load/constant-rate.ts'
import { freePorts, type Server, startServer } from '../servers/processes.ts'
import { sendAtRate } from '../load/send-at-rate.ts'
import { AUTHORIZATION } from '../scenario.ts'

// Measures how long requests wait while a records file is replaced, and how much memory the gateway uses. The requests come at a
// constant rate, and their waits count from the moment at which they were due.

const FLAGS = ['--max-semi-space-size=8', '--no-allocation-site-pretenuring']
const REQUEST = `GET /engine-rest/process-definition/key/invoice HTTP/1.1\r\nhost: gateway\r\nauthorization: ${AUTHORIZATION}\r\n\r\n`
const WARM_UP_SECONDS = 8
const ROUND_SECONDS = 8
/** The file is replaced after this time of a round. */
const REPLACE_AFTER_MS = 1_000
const MAX_READ_MS = 120_000
/** V8 returns the memory of a thread about ten seconds after its end. */
const SETTLE_MS = 20_000
const SAMPLE_MS = 10

interface Setting {
  readonly records: number
  readonly perSecond: number
  readonly replacements: number
  /** `plain`: the form that needs no YAML library. `library`: one record needs it. */
  readonly form: string
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      records: { type: 'string', default: '100000' },
      'per-second': { type: 'string', default: '1000' },
      replacements: { type: 'string', default: '5' },
      form: { type: 'string', default: 'plain' },
      before: { type: 'string' },
    },
  })
  const setting = {
    records: Number(values.records),
    perSecond: Number(values['per-second']),
    replacements: Number(values.replacements),
    form: values.form,
  }
  const own = fileURLToPath(new URL('../..', import.meta.url))
  for (const checkout of values.before === undefined ? [own] : [resolve(values.before), own]) {
    process.stdout.write(`${checkout}\n`)
    await measure(checkout, setting)
  }
}

async function measure(checkout: string, setting: Setting): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  const running: Server[] = []
  try {
    const replaceFile = createFiles(directory, setting)
    const [stubPort = 0, port = 0, adminPort = 0] = await freePorts(3)
    const stub = [process.execPath, fileOf('../servers/stub.ts'), '--port', `${stubPort}`]
    running.push(await startServer({ command: stub, port: stubPort }))
    const log = join(directory, 'gateway.log')
    const entry = join(checkout, 'src', 'main.ts')
    const gateway = await startServer({
      command: [process.execPath, ...FLAGS, entry, '--config', join(directory, 'gateway.yaml')],
      port,
      env: {
        BENCH_GATEWAY_PORT: `${port}`,
        BENCH_ADMIN_PORT: `${adminPort}`,
        BENCH_STUB_PORT: `${stubPort}`,
      },
      output: openSync(log, 'w'),
    })
    running.push(gateway)
    write(`start: ${gateway.cpuSeconds().toFixed(2)} s CPU`)
    const load = (seconds: number) =>
      sendAtRate({ port, request: REQUEST, perSecond: setting.perSecond, seconds })
    await load(WARM_UP_SECONDS)
    write(`without a replacement: ${textOf(await load(ROUND_SECONDS))}`)
    await wait(SETTLE_MS)
    const memory = watchMemory(gateway.pid)
    const before = memory.now()
    for (let count = 0; count < setting.replacements; count += 1) {
      const [result, ms] = await Promise.all([load(ROUND_SECONDS), replace(replaceFile, log)])
      write(`replaced in ${(ms / 1000).toFixed(1)} s: ${textOf(result)}`)
    }
    await wait(SETTLE_MS)
    const after = memory.now()
    write(`resident memory: ${before} MB before, at most ${memory.stop()} MB, ${after} MB after`)
  } finally {
    for (const server of running.toReversed()) await server.stop()
    rmSync(directory, { recursive: true })
  }
}

/** Replaces the file. Returns the milliseconds until the gateway logs that it has read the file. */
async function replace(replaceFile: () => void, log: string): Promise<number> {
  await wait(REPLACE_AFTER_MS)
  const before = reloadsIn(log)
  replaceFile()
  const startedAt = performance.now()
  while (reloadsIn(log) === before) {
    if (performance.now() - startedAt > MAX_READ_MS) throw new Error('the gateway did not read the file')
    await wait(100)
  }
  return performance.now() - startedAt
}

function reloadsIn(log: string): number {
  return readFileSync(log, 'latin1').split('"file reloaded"').length
}

/** Writes the files of the gateway. Returns a function that replaces all records by others at once. */
function createFiles(directory: string, { records, form }: Setting): () => void {
  for (const name of ['gateway.yaml', 'users.yaml'])
    writeFileSync(join(directory, name), readFileSync(fileOf(`../servers/${name}`)))
  const own = readFileSync(fileOf('../servers/authorizations.yaml'), 'utf8').trimEnd()
  const file = join(directory, 'authorizations.yaml')
  let version = 0
  const replaceFile = () => {
    version += 1
    const more = Array.from({ length: records }, (_, at) => recordOf(at, version))
    // The YAML library is needed for an anchor.
    if (form === 'library') more.push(recordOf(records, version).replace('userId: ', 'userId: &name '))
    writeFileSync(`${file}.new`, [own, ...more, ''].join('\n'))
    renameSync(`${file}.new`, file)
  }
  replaceFile()
  return replaceFile
}

function recordOf(at: number, version: number): string {
  const id = `${at.toString(16).padStart(8, '0')}-${version}-11ef-9ad2-0242ac120002`
  return [
    '  - type: 1',
    '    permissions: [READ, UPDATE]',
    `    userId: user${at % 5_000}`,
    '    resourceType: 8',
    `    resourceId: ${id}`,
  ].join('\n')
}

/** Samples the resident memory of a process, in MB. `stop` returns the largest sample. */
function watchMemory(pid: number) {
  const now = (): number => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Math.round((Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024) / 1e6)
  }
  let peak = now()
  const timer = setInterval(() => (peak = Math.max(peak, now())), SAMPLE_MS)
  const stop = (): number => {
    clearInterval(timer)
    return peak
  }
  return { now, stop }
}

function textOf({ waitsMs, statuses, unanswered }: ConstantRateResult): string {
  const at = (part: number): string =>
    (waitsMs[Math.min(waitsMs.length - 1, Math.floor(waitsMs.length * part))] ?? Number.NaN).toFixed(1)
  const responses = Object.entries(statuses).map(([status, count]) => `${count} with ${status}`)
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest wait ${at(1)} ms; ${[...responses, `${unanswered} without a response`].join(', ')}`
}

function write(line: string): void {
  process.stdout.write(`${line}\n`)
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

await main()
