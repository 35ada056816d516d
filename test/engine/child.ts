import { spawn, type SpawnOptions } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** A server that the test started. It never outlives the test, however the test ends. */
export interface Child {
  readonly pid: number
  /** The line in which the server reported that it is ready. */
  readonly ready: RegExpMatchArray
  /** Freezes the process: its sockets remain open, and it does not respond. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

export interface Start {
  readonly command: string
  readonly args: readonly string[]
  /** Pattern of the output line that reports readiness. */
  readonly ready: RegExp
  readonly withinMs: number
  /** The user and the working folder of the server. Default: those of the test. */
  readonly runAs?: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'>
  /** Receives every line of output, before and after that line. */
  readonly onLine?: (line: string) => void
}

const keptLines = 60
const graceMs = 5000

/** Starts a server and waits until it is ready. Rejects with its last output if it exits before that. */
export async function startChild(start: Start): Promise<Child> {
  const child = spawn(start.command, start.args, { ...start.runAs, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve())
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${start.command} could not be started`)
  void ended.then(tether(pid))
  const stop = async () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    await ended
    clearTimeout(timer)
  }
  try {
    const ready = await readyOf([child.stdout, child.stderr], ended, start)
    return {
      pid,
      ready,
      stop,
      pause: () => void child.kill('SIGSTOP'),
      resume: () => void child.kill('SIGCONT'),
    }
  } catch (cause) {
    await stop()
    throw cause
  }
}

async function readyOf(
  outputs: readonly Readable[],
  ended: Promise<void>,
  start: Start,
): Promise<RegExpMatchArray> {
  const lines: string[] = []
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer)
      reject(new Error(`${start.command} ${what}\n${lines.join('\n')}`))
    }
    const timer = setTimeout(() => fail(`was not ready in ${start.withinMs} ms`), start.withinMs)
    void ended.then(() => fail('ended'))
    const look = (line: string) => {
      start.onLine?.(line)
      lines.push(line)
      if (lines.length > keptLines) lines.shift()
      const match = line.match(start.ready)
      if (match === null) return
      clearTimeout(timer)
      resolve(match)
    }
    for (const output of outputs) createInterface(output).on('line', look)
  })
}

// A killed test runs no exit hook. Its end of this pipe closes nevertheless, and the shell then kills the server.
/**
 * Kills the target when this process ends. Returns a function that releases the target, for use when it has exited.
 * @param target a process id, or a process group as a negative number
 */
export function tether(target: number): () => void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0"', String(target)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  return () => void shell.kill('SIGKILL')
}
