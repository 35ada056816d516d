import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { until } from './cache-harness.ts'
import { authorizationOf, BASE } from './open-gateway.ts'
import { writeSetup } from './reloadable.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname

type Line = Readonly<Record<string, unknown>>

interface AdminInit extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>
}

export interface Started {
  /** Process id of the primary. */
  readonly pid: number
  readonly address: string
  readonly adminAddress: string
  /** Returns the lines that have been logged so far. */
  readonly lines: () => readonly Line[]
  /** Resolves to the first line that has all these members. If `after` is given, only lines after that one count. */
  readonly line: (members: Line, after?: Line) => Promise<Line>
  /** Returns the process ids of the workers that listen, by worker number. */
  readonly pids: () => ReadonlyMap<number, number>
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>
  readonly admin: (path: string, init?: AdminInit) => Promise<{ status: number; text: string }>
  readonly metric: (series: string) => Promise<number | null>
  readonly write: (settings: Line) => Promise<void>
  readonly file: string
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves to the exit code of the primary. */
  readonly exit: Promise<number | null>
}

interface Options {
  /** A module that each process loads first. */
  readonly preload?: string
  /** Whether it leads its own process group. */
  readonly detached?: boolean
}

export interface Spawned {
  readonly child: ReturnType<typeof spawn>
  readonly lines: () => readonly Line[]
  readonly err: () => string
  readonly exit: Promise<number | null>
}

/** Starts the process as an operator does. It is killed at the end of the test if it still runs. */
export function spawnGateway(t: Test, file: string, { preload, detached = false }: Options = {}): Spawned {
  const flags = preload === undefined ? [] : ['--import', preload]
  const child = spawn(process.execPath, [...flags, MAIN, '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
  })
  t.teardown(() => child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
  return {
    child,
    lines: () => linesIn(said.out),
    err: () => said.err,
    exit: once(child, 'exit').then(() => child.exitCode),
  }
}

/** Starts the process and resolves when every worker listens. */
export async function startWorkers(t: Test, settings: Line, options: Options = {}): Promise<Started> {
  const { file, write } = await writeSetup(t)
  await write({ workers: 2, health: { probe: false }, ...settings })
  const { child, lines, exit } = spawnGateway(t, file, options)
  const line: Started['line'] = async (members, after) => {
    const found = () => {
      const known = lines()
      const from = after === undefined ? 0 : known.findIndex((one) => same(one, after)) + 1
      return known.slice(from).find((one) => has(one, members))
    }
    await until(() => found() !== undefined, 30_000)
    return found() ?? {}
  }
  const { address, admin: adminAddress, workers } = await line({ msg: 'listening' })
  for (let worker = 1; worker <= Number(workers); worker += 1)
    await line({ msg: 'worker is listening', worker })
  const admin: Started['admin'] = async (path, init) => {
    const headers = { 'x-requested-by': 'a test', ...init?.headers }
    const response = await fetch(String(adminAddress) + path, { ...init, headers })
    return { status: response.status, text: await response.text() }
  }
  return {
    pid: Number(child.pid),
    address: String(address),
    adminAddress: String(adminAddress),
    lines,
    line,
    pids: () => pidsIn(lines()),
    ask: (path, init = {}) =>
      fetch(String(address) + BASE + path, {
        signal: AbortSignal.timeout(60_000),
        ...init,
        headers: { authorization: authorizationOf('demo'), connection: 'close' },
      }),
    admin,
    metric: async (series) => {
      const { text } = await admin('/metrics')
      const found = text.split('\n').find((one) => one.startsWith(`${series} `))
      return found === undefined ? null : Number(found.slice(series.length + 1))
    },
    write: (next) => write({ workers: 2, health: { probe: false }, ...next }),
    file,
    kill: (signal) => void child.kill(signal),
    exit,
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export function timeOf(line: Line): number {
  return Date.parse(String(line['time']))
}

function linesIn(text: string): readonly Line[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => JSON.parse(one))
}

function pidsIn(lines: readonly Line[]): ReadonlyMap<number, number> {
  const listening = lines.filter(({ msg }) => msg === 'worker is listening')
  return new Map(listening.map(({ worker, pid }) => [Number(worker), Number(pid)]))
}

function has(line: Line, members: Line): boolean {
  return Object.entries(members).every(([name, value]) => line[name] === value)
}

function same(one: Line, other: Line): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
