import { type ChildProcess, fork as forkProcess, type SendHandle } from 'node:child_process'
import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Config } from '../config/config.ts'
import { type WorkerCalls, createCalls, ProcessExitedError } from './calls.ts'
import { forwardLines } from './lines.ts'
import { readToPrimary, type MessageToWorker } from './worker-messages.ts'

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

/** One worker, as the primary sees it. */
export interface WorkerProcess {
  readonly pid: number | null
  /** Resolves when the worker serves connections. @throws Error if it ends earlier */
  readonly listening: Promise<void>
  /** Resolves when the worker drains, also without a request of the primary, or has ended. */
  readonly draining: Promise<void>
  readonly ended: Promise<ProcessExit>
  /** Resolves when the worker has ended and its output has been forwarded. */
  readonly closed: Promise<void>
  readonly ask: WorkerCalls['ask']
  /**
   * Resolves to the numbers of the worker's connections. @throws ProcessExitedError if the worker ended before it took the
   * connection. Another worker can then get the connection.
   */
  readonly handOver: (connection: Socket) => Promise<unknown>
  /** Resolves to the numbers of the worker's connections. */
  readonly countConnections: () => Promise<unknown>
  /** Makes the worker accept connections from a listening socket. Resolves to a copy of the socket that accepts nothing. */
  readonly accept: (server: Server) => Promise<unknown>
  readonly stopAccepting: () => Promise<unknown>
  /** Notifies the worker that no more connections follow. */
  readonly endConnections: () => void
  readonly drain: () => void
  /** Sends SIGTERM. This ends a worker at once that does not listen yet. `drain` takes effect only after the worker has started. */
  readonly terminate: () => void
  readonly kill: () => void
}

interface ForkOptions {
  /** The file that the process executes, with the argument `worker`. */
  readonly entry: string
  /** Receives the lines of the worker's standard output. */
  readonly write: (lines: string) => void
}

/** Longer than the time after which a worker that does not answer is killed. */
const HAND_OVER_MS = 60_000
const COUNT_MS = 500

/** Starts a worker. Calls `config` when the worker requests its configuration. */
export type Fork = (config: () => Config) => WorkerProcess

export function createFork({ entry, write }: ForkOptions): Fork {
  return function fork(config) {
    const child = tryToFork(entry)
    if (child === null) return FAILED_START
    if (child.stdout !== null) forwardLines(child.stdout, write)
    return processOf(child, config)
  }
}

/** Returns null if the system cannot start more processes or has no free file descriptors. */
function tryToFork(entry: string): ChildProcess | null {
  try {
    return forkProcess(entry, ['worker'], {
      // JSON cannot encode some numbers of the metrics, such as NaN.
      serialization: 'advanced',
      // With a pipe, the primary forwards complete lines. Otherwise the lines of two workers may be mixed.
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
  } catch {
    return null
  }
}

/** A worker that could not be started. The next attempt follows after the back-off. */
const FAILED_START: WorkerProcess = {
  pid: null,
  listening: neverListening(),
  draining: Promise.resolve(),
  ended: Promise.resolve({ code: null, signal: null }),
  closed: Promise.resolve(),
  ask: rejectAsGone,
  handOver: rejectAsGone,
  countConnections: rejectAsGone,
  accept: rejectAsGone,
  stopAccepting: rejectAsGone,
  endConnections: () => undefined,
  drain: () => undefined,
  terminate: () => undefined,
  kill: () => undefined,
}

function rejectAsGone(): Promise<never> {
  return Promise.reject(new ProcessExitedError('is gone'))
}

function neverListening(): Promise<void> {
  const never = Promise.reject<void>(new Error('No worker can be started'))
  never.catch(() => undefined)
  return never
}

function processOf(child: ChildProcess, config: () => Config): WorkerProcess {
  const send = (message: MessageToWorker, socket?: SendHandle): void => {
    // The worker may have ended already, which its exit event reports. A connection stays open here until the worker has it.
    child.send(message, socket, { keepOpen: true }, () => undefined)
  }
  const calls = createCalls(send)
  const ended = endingOf(child)
  const closed = closingOf(child)
  const draining = new Promise<void>((resolve) => {
    child.on('message', (sent: unknown) => {
      if (readToPrimary(sent)?.type === 'draining') resolve()
    })
    void ended.then(() => resolve())
  })
  const listening = new Promise<void>((resolve, reject) => {
    child.on('message', (sent: unknown, socket: unknown) => {
      const message = readToPrimary(sent)
      if (message?.type === 'up') send({ type: 'begin', config: config() })
      if (message?.type === 'listening') resolve()
      if (message?.type === 'answer' || message?.type === 'failure') calls.onResult(message, socket)
    })
    void ended.then(({ code, signal }) => {
      reject(new Error(`A worker exited before it was listening (${signal ?? `exit code ${code}`})`))
    })
  })
  // Prevents an unhandled rejection if no caller waits for this promise.
  listening.catch(() => undefined)
  void closed.then(() => calls.end())
  return {
    pid: child.pid ?? null,
    listening,
    draining,
    ended,
    closed,
    ask: calls.ask,
    handOver: (connection) => calls.ask('connection', null, HAND_OVER_MS, connection),
    countConnections: () => calls.ask('connection', null, COUNT_MS),
    accept: (server) => calls.ask('accept', null, HAND_OVER_MS, server),
    stopAccepting: () => calls.ask('stop-accepting', null, HAND_OVER_MS),
    endConnections: () => send({ type: 'last-connection' }),
    drain: () => send({ type: 'drain' }),
    terminate: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  }
}

function endingOf(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
    child.on('error', () => {
      // A process that could not be started has no exit event.
      if (child.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

/** Resolves when the process has ended and all its messages and output have been read. */
async function closingOf(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined) await once(child, 'close').catch(() => undefined)
}
