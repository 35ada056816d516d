import { MessageChannel, parentPort, type Transferable, workerData } from 'node:worker_threads'
import { ConfigError } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { type ParseJob, runParseJob } from './parse-job.ts'
import type { ParseReply } from './parsing-thread.ts'

// The main file of a thread. It runs one job and ends.

/** The number of items in a piece. The main thread reads a piece in about a millisecond. */
const ITEMS_OF_A_PIECE = 1_000

function run(job: ParseJob): { readonly reply: ParseReply; readonly transferred: readonly Transferable[] } {
  try {
    const { head, items } = runParseJob(job)
    const { port1, port2 } = new MessageChannel()
    for (let at = 0; at < items.length; at += ITEMS_OF_A_PIECE)
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
      port1.postMessage(items.slice(at, at + ITEMS_OF_A_PIECE))
    const buffers = 'numbers' in head ? [head.numbers.buffer] : []
    return { reply: { outcome: 'parsed', head, pieces: port2 }, transferred: [port2, ...buffers] }
  } catch (error) {
    const reply: ParseReply =
      error instanceof ConfigError
        ? { outcome: 'refused', problems: error.problems }
        : { outcome: 'failed', message: messageOf(error) }
    return { reply, transferred: [] }
  }
}

const { reply, transferred } = run(workerData)
parentPort?.postMessage(reply, transferred)
