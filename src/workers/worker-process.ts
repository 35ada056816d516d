import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { type Calls, createCalls, NoAnswer } from './calls.ts'
import { createHandOver } from './hand-over.ts'
import { forwardLines } from './lines.ts'
import { readToPrimary, type ToWorker } from './worker-messages.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** One worker, as the primary sees it. */
export interface WorkerProcess {
  readonly pid: number | null
  /** The public address. @throws Error if it ends before it listens */
  readonly listening: Promise<string>
  readonly ended: Promise<Ending>
  /** It has ended, and its output has been forwarded. */
  readonly closed: Promise<void>
  readonly ask: Calls['ask']
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
  readonly log: Pick<Logger, 'debug'>
}

/** Starts a worker. `config` is called when the worker asks for its configuration. */
export type Fork = (config: () => Config) => WorkerProcess

export function createFork({ entry, write, log }: ForkOptions): Fork {
  cluster.setupPrimary({
    exec: entry,
    args: ['worker'],
    // JSON cannot encode some numbers of the metrics, such as NaN.
    serialization: 'advanced',
    // Otherwise a line of one worker may end up within a line of another.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const trackConnections = createHandOver(log)
  return function fork(config) {
    const worker = tryToFork()
    if (worker === null) return FAILED_START
    trackConnections(worker)
    if (worker.process.stdout !== null) forwardLines(worker.process.stdout, write)
    return processOf(worker, config)
  }
}

/** Null if the system has no process or no file descriptors left. */
function tryToFork(): Worker | null {
  try {
    return cluster.fork()
  } catch {
    return null
  }
}

/** A worker that could not be started: the next attempt follows after the back-off. */
const FAILED_START: WorkerProcess = {
  pid: null,
  listening: neverListening(),
  ended: Promise.resolve({ code: null, signal: null }),
  closed: Promise.resolve(),
  ask: () => Promise.reject(new NoAnswer('is gone')),
  drain: () => undefined,
  terminate: () => undefined,
  kill: () => undefined,
}

function neverListening(): Promise<string> {
  const never = Promise.reject<string>(new Error('No worker can be started'))
  never.catch(() => undefined)
  return never
}

function processOf(worker: Worker, config: () => Config): WorkerProcess {
  const send = (message: ToWorker): void => {
    // The worker may have ended already; its exit event reports that.
    worker.send(message, undefined, undefined, () => undefined)
  }
  const calls = createCalls(send)
  const ended = endingOf(worker)
  const listening = new Promise<string>((resolve, reject) => {
    worker.on('message', (sent: unknown) => {
      const message = readToPrimary(sent)
      if (message?.type === 'up') send({ type: 'begin', config: config() })
      if (message?.type === 'listening') resolve(message.address)
      if (message?.type === 'answer' || message?.type === 'failure') calls.onAnswer(message)
    })
    void ended.then(({ code, signal }) => {
      calls.end()
      reject(new Error(`A worker has ended before it listened (${signal ?? `exit code ${code}`})`))
    })
  })
  // There may be no handler.
  listening.catch(() => undefined)
  return {
    pid: worker.process.pid ?? null,
    listening,
    ended,
    closed: closingOf(worker),
    ask: calls.ask,
    drain: () => send({ type: 'drain' }),
    terminate: () => void worker.process.kill('SIGTERM'),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

function endingOf(worker: Worker): Promise<Ending> {
  return new Promise((resolve) => {
    worker.on('exit', (code: number | null, signal: string | null) => resolve({ code, signal }))
    worker.on('error', () => {
      // There is no exit event if it could not be started.
      if (worker.process.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

async function closingOf(worker: Worker): Promise<void> {
  if (worker.process.pid !== undefined) await once(worker.process, 'close').catch(() => undefined)
}
