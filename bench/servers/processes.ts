import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'

/** The CPU cores. The engine and the load share one core. The measured server has the other core. */
export const CORES = { load: 0, server: 1 } as const

const CLOCK_TICKS_PER_SECOND = 100
const START_MS = 10_000

export function has(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

/** Returns the command bound to these cores, or the unchanged command if `taskset` is not installed. */
export function pinned(cores: number | readonly number[], command: readonly string[]): readonly string[] {
  return has('taskset') ? ['taskset', '-c', String(cores), ...command] : command
}

export interface Server {
  readonly pid: number
  /** Returns the CPU time since the start, including child processes. Returns 0 if the system does not report it. */
  readonly cpuSeconds: () => number
  readonly stop: () => Promise<void>
}

export interface StartOptions {
  readonly command: readonly string[]
  readonly port: number
  readonly env?: NodeJS.ProcessEnv
  /** The file descriptor for standard output. By default, the output is discarded. */
  readonly output?: number
}

/** Starts a server and waits until it listens. */
export async function startServer({ command, port, env = {}, output }: StartOptions): Promise<Server> {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', output ?? 'ignore', 'inherit'],
  })
  const deadline = Date.now() + START_MS
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop(child)
      throw new Error(`${command.join(' ')} does not listen on ${port}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const pid = child.pid ?? 0
  return { pid, cpuSeconds: () => cpuSecondsOf(pid), stop: () => stop(child) }
}

async function accepts(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' }).catch(() => null)
  return answer !== null
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 5000)
  await ended
  clearTimeout(late)
}

function cpuSecondsOf(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return [pid, ...children.map(Number)].map(ownCpuSeconds).reduce((sum, seconds) => sum + seconds, 0)
  } catch {
    return 0
  }
}

/** Returns fields 14 and 15 of proc(5), `utime` and `stime`, in seconds. The second field is in brackets and may contain spaces. */
function ownCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
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
