import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../config/config.ts'
import { type Calls, createCalls, NoAnswer } from './calls.ts'
import { createHandOver } from './hand-over.ts'
import { passLines } from './lines.ts'
import { readToPrimary, type ToWorker } from './worker-messages.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: string | null
}

/** One worker, as the primary sees it. */
export interface WorkerProcess {
  readonly pid: number | null
  /** The public address. @throws Error when it ends before */
  readonly listening: Promise<string>
  readonly ended: Promise<Ending>
  /** It has ended, and all that it wrote is passed on. */
  readonly closed: Promise<void>
  readonly ask: Calls['ask']
  readonly drain: () => void
  /** Before it listens it knows no other way to end. */
  readonly terminate: () => void
  readonly kill: () => void
}

interface ForkOptions {
  /** The file that the process runs, with the argument `worker`. */
  readonly entry: string
  /** Lines that it writes to its standard output. */
  readonly write: (lines: string) => void
}

/** Starts one that serves what `config` gives when it asks. */
export type Fork = (config: () => Config) => WorkerProcess

export function createFork({ entry, write }: ForkOptions): Fork {
  cluster.setupPrimary({
    exec: entry,
    args: ['worker'],
    // JSON would lose what some numbers of the metrics are.
    serialization: 'advanced',
    // A line of one worker may else end up within a line of another.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const handOver = createHandOver()
  return function fork(config) {
    const worker = tryToFork()
    if (worker === null) return UNSTARTED
    handOver(worker)
    if (worker.process.stdout !== null) passLines(worker.process.stdout, write)
    return processOf(worker, config)
  }
}

/** Null where the system gives no process, or no file descriptors for one. */
function tryToFork(): Worker | null {
  try {
    return cluster.fork()
  } catch {
    return null
  }
}

/** One that has ended before it began: the next try comes in its time. */
const UNSTARTED: WorkerProcess = {
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
    // It may be gone already; that is heard of elsewhere.
    worker.send(message, undefined, undefined, () => undefined)
  }
  const calls = createCalls(send)
  const ended = endingOf(worker)
  const listening = new Promise<string>((resolve, reject) => {
    worker.on('message', (sent: unknown) => {
      const message = readToPrimary(sent)
      if (message?.type === 'up') send({ type: 'begin', config: config() })
      if (message?.type === 'listening') resolve(message.address)
      if (message?.type === 'answer' || message?.type === 'failure') calls.heard(message)
    })
    void ended.then(({ code, signal }) => {
      calls.end()
      reject(new Error(`A worker has ended before it listened (${signal ?? `exit code ${code}`})`))
    })
  })
  // Nobody may wait for it.
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
      // Where it could not be started there is no exit.
      if (worker.process.pid === undefined) resolve({ code: null, signal: null })
    })
  })
}

async function closingOf(worker: Worker): Promise<void> {
  if (worker.process.pid !== undefined) await once(worker.process, 'close').catch(() => undefined)
}
