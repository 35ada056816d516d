import type { Config } from '../../src/config/config.ts'
import { CallError } from '../../src/workers/calls.ts'
import type { ProcessExit, Fork } from '../../src/workers/worker-process.ts'

export interface FakeWorker {
  readonly asked: { readonly topic: string; readonly value: unknown }[]
  /** Returns the response to a call. Default: no problems, and ready. */
  answer: (topic: string, value: unknown) => Promise<unknown>
  readonly end: (code: number) => void
  readonly killed: () => boolean
}

const READY = { ready: true, checks: { drain: 'ok' } }

class EndedOnce {
  as: (ending: ProcessExit) => void = () => undefined
  readonly promise = new Promise<ProcessExit>((resolve) => (this.as = resolve))
}

/** Returns a `fork` that starts no process. The workers record the calls and whether they were killed. */
export function createFakeFork(): { readonly fork: Fork; readonly workers: FakeWorker[] } {
  const workers: FakeWorker[] = []
  const fork: Fork = (config: () => Config) => {
    const ended = new EndedOnce()
    let isKilled = false
    const worker: FakeWorker = {
      asked: [],
      answer: (topic) => Promise.resolve(topic === 'readiness' ? READY : []),
      end: (code) => ended.as({ code, signal: null }),
      killed: () => isKilled,
    }
    const kill = () => {
      isKilled = true
      ended.as({ code: null, signal: 'SIGKILL' })
    }
    workers.push(worker)
    return {
      pid: workers.length,
      listening: Promise.resolve().then(() => {
        config()
      }),
      draining: ended.promise.then(() => undefined),
      ended: ended.promise,
      closed: ended.promise.then(() => undefined),
      ask: (topic, value) => {
        worker.asked.push({ topic, value })
        return worker.answer(topic, value)
      },
      handOver: () => Promise.resolve(),
      countConnections: () => Promise.resolve({ open: 0, ended: 0 }),
      accept: () => Promise.resolve(null),
      stopAccepting: () => Promise.resolve(),
      endConnections: () => undefined,
      drain: () => ended.as({ code: 0, signal: null }),
      terminate: () => ended.as({ code: null, signal: 'SIGTERM' }),
      kill,
    }
  }
  return { fork, workers }
}

export function noAnswer(): Promise<never> {
  return Promise.reject(new CallError('did not respond within 1 ms'))
}
