import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { cpuSecondsOf } from '../foreign-cpu.ts'

/** The CPU cores. The engine and the load share one core. The measured server has the other core. */
export const CORES = { load: 0, server: 1 } as const
/** The value for a process that may use every core. */
export const ANY_CORE = null

const START_MS = 60_000
const STOP_MS = 5_000
const LOOK_MS = 20

const known = new Map<string, boolean>()
const running = new Set<Server>()

export function has(command: string): boolean {
  const isThere = known.get(command) ?? spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
  known.set(command, isThere)
  return isThere
}

/** Returns the command bound to one core. Returns the unchanged command if there is no other core, or no `taskset`. */
export function pinned(core: number | null, command: readonly string[]): readonly string[] {
  const isPinned = core !== ANY_CORE && availableParallelism() > 1 && has('taskset')
  return isPinned ? ['taskset', '-c', String(core), ...command] : command
}

export interface Server {
  readonly pid: number
  readonly port: number
  /** Returns the CPU time since the start, including child processes. Returns 0 if the system does not report it. */
  readonly cpuSeconds: () => number
  /** Returns the resident memory in bytes, without child processes. */
  readonly residentBytes: () => number
  readonly stop: () => Promise<void>
}

export interface StartOptions {
  readonly command: readonly string[]
  readonly port: number
  readonly core: number | null
  readonly env?: Readonly<Record<string, string>>
  /** The file descriptor for standard output. By default, the output is discarded. */
  readonly output?: number
}

/** Starts a server and waits until it listens. `stopAll` stops it. @throws Error if it does not listen */
export async function startServer(options: StartOptions): Promise<Server> {
  const { port, core, env = {}, output } = options
  const [file = '', ...args] = pinned(core, options.command)
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output ?? 'ignore', 'inherit'],
  })
  const pid = child.pid ?? 0
  const server: Server = {
    pid,
    port,
    cpuSeconds: () => cpuSecondsOf(pid),
    residentBytes: () => residentBytesOf(pid),
    stop: async () => {
      running.delete(server)
      await stop(child)
    },
  }
  running.add(server)
  const deadline = Date.now() + START_MS
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await server.stop()
      throw new Error(`${options.command.join(' ')} does not listen on ${port}`)
    }
    await wait(LOOK_MS)
  }
  return server
}

/** Starts a server in TypeScript that is in this folder, with `--port` and further arguments. */
export async function startScript(
  script: string,
  core: number | null,
  args: readonly string[] = [],
): Promise<Server> {
  const [port = 0] = await freePorts(1)
  const file = fileURLToPath(new URL(script, import.meta.url))
  return startServer({ command: [process.execPath, file, '--port', `${port}`, ...args], port, core })
}

/** Stops all servers that run, the last one first. */
export async function stopAll(): Promise<void> {
  for (const server of [...running].toReversed()) await server.stop()
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', () => end(true)).on('error', () => end(false))
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(late)
}

function residentBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024
}

/** Returns ports on which no process listens at the moment. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
