import { type ChildProcess, fork as forkProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Config } from '../config/config.ts'
import { type Calls, createCalls, Gone } from './calls.ts'
import { forwardLines } from './lines.ts'
import { readToPrimary, type ToWorker } from './worker-messages.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** One worker, as the primary sees it. */
export interface WorkerProcess {
  readonly pid: number | null
  /** It serves connections. @throws Error if it ends before */
  readonly listening: Promise<void>
  /** It drains on its own account, or has ended. */
  readonly leaving: Promise<void>
  readonly ended: Promise<Ending>
  /** It has ended, and its output has been forwarded. */
  readonly closed: Promise<void>
  readonly ask: Calls['ask']
  /** A connection that was not taken when it ended rejects with Gone: another can have it. */
  readonly handOver: (connection: Socket) => Promise<unknown>
  /** No connection is handed over any more. */
  readonly endConnections: () => void
  readonly drain: () => void
  /** The only way to end it before it listens. */
  readonly terminate: () => void
  readonly kill: () => void
}

interface ForkOptions {
  /** The file that the process runs, with the argument `worker`. */
  readonly entry: string
  /** Receives the lines of its standard output. */
  readonly write: (lines: string) => void
}

/** Longer than a worker that answers nothing is left alive. */
const HAND_OVER_MS = 60_000

/** Starts a worker. `config` is called when the worker asks for its configuration. */
export type Fork = (config: () => Config) => WorkerProcess

export function createFork({ entry, write }: ForkOptions): Fork {
  return function fork(config) {
    const child = tryToFork(entry)
    if (child === null) return FAILED_START
    if (child.stdout !== null) forwardLines(child.stdout, write)
    return processOf(child, config)
  }
}

/** Null if the system has no process or no file descriptors left. */
function tryToFork(entry: string): ChildProcess | null {
  try {
    return forkProcess(entry, ['worker'], {
      // JSON cannot encode some numbers of the metrics, such as NaN.
      serialization: 'advanced',
      // Otherwise a line of one worker may end up within a line of another.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
  } catch {
    return null
  }
}

/** A worker that could not be started: the next attempt follows after the back-off. */
const FAILED_START: WorkerProcess = {
  pid: null,
  listening: neverListening(),
  leaving: Promise.resolve(),
  ended: Promise.resolve({ code: null, signal: null }),
  closed: Promise.resolve(),
  ask: () => Promise.reject(new Gone('is gone')),
  handOver: () => Promise.reject(new Gone('is gone')),
  endConnections: () => undefined,
  drain: () => undefined,
  terminate: () => undefined,
  kill: () => undefined,
}

function neverListening(): Promise<void> {
  const never = Promise.reject<void>(new Error('No worker can be started'))
  never.catch(() => undefined)
  return never
}

function processOf(child: ChildProcess, config: () => Config): WorkerProcess {
  const send = (message: ToWorker, connection?: Socket): void => {
    // The worker may have ended already; its exit event reports that. A connection stays open here until the worker has it.
    child.send(message, connection, { keepOpen: true }, () => undefined)
  }
  const calls = createCalls(send)
  const ended = endingOf(child)
  const closed = closingOf(child)
  const leaving = new Promise<void>((resolve) => {
    child.on('message', (sent: unknown) => {
      if (readToPrimary(sent)?.type === 'leaving') resolve()
    })
    void ended.then(() => resolve())
  })
  const listening = new Promise<void>((resolve, reject) => {
    child.on('message', (sent: unknown) => {
      const message = readToPrimary(sent)
      if (message?.type === 'up') send({ type: 'begin', config: config() })
      if (message?.type === 'listening') resolve()
      if (message?.type === 'answer' || message?.type === 'failure') calls.onAnswer(message)
    })
    void ended.then(({ code, signal }) => {
      reject(new Error(`A worker has ended before it listened (${signal ?? `exit code ${code}`})`))
    })
  })
  // There may be no handler.
  listening.catch(() => undefined)
  void closed.then(() => calls.end())
  return {
    pid: child.pid ?? null,
    listening,
    leaving,
    ended,
    closed,
    ask: calls.ask,
    handOver: (connection) => calls.ask('connection', null, HAND_OVER_MS, connection),
    endConnections: () => send({ type: 'last-connection' }),
    drain: () => send({ type: 'drain' }),
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  }
}

function endingOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
    child.on('error', () => {
      // There is no exit event if it could not be started.
      if (child.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

/** By then all that it has sent is read. */
async function closingOf(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) await once(child, 'close').catch(() => undefined)
}
