import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** A server the test started; it never outlives the test, however the test ends. */
export interface Child {
  readonly pid: number
  /** The line by which the server said that it is ready. */
  readonly ready: RegExpMatchArray
  /** Freezes the process: its sockets stay open and nothing answers. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

export interface Start {
  readonly command: string
  readonly args: readonly string[]
  /** A line of output that means: ready. */
  readonly ready: RegExp
  readonly withinMs: number
  /** Every line of output, before and after that one. */
  readonly onLine?: (line: string) => void
}

const keptLines = 60
const graceMs = 5000

/** Starts a server and waits until it is ready; rejects with its last output when it ends before that. */
export async function startChild(start: Start): Promise<Child> {
  const child = spawn(start.command, start.args, { stdio: ['ignore', 'pipe', 'pipe'] })
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

// A test that is killed runs no exit hook. Its end of this pipe closes all the same, and the shell then ends the server.
/** @param target a process, or a group as a negative number. Returns what lets go of it: it has ended. */
export function tether(target: number): () => void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0"', String(target)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  return () => void shell.kill('SIGKILL')
}
