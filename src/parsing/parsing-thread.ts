import { type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { ConfigError } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import { inSlices } from './in-slices.ts'
import type { ParsedLists, ParseJob } from './parse-job.ts'
import type { ParseLimits } from './parse-limits.ts'

/** The message with which a thread ends. */
export type ParseReply =
  | {
      readonly outcome: 'parsed'
      readonly head: unknown
      /** Has received the items, in pieces. */
      readonly pieces: MessagePort
    }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] }
  | { readonly outcome: 'failed'; readonly message: string }

// The name of this file has the extension of all files: `.ts` in `src`, and `.js` in `dist`.
const ENTRY = new URL(import.meta.url.replace(/parsing-thread(?=\.[jt]s$)/, 'parsing-thread-main'))

/** Runs parsing jobs in threads, one at a time. Every job has a thread of its own, so that its memory is free afterwards. */
export class ParsingThreads {
  readonly #limits: Pick<ParseLimits, 'heapMiB' | 'threadMs'>
  #last: Promise<unknown> = Promise.resolve()
  #worker: Worker | null = null
  #closed = false

  constructor(limits: Pick<ParseLimits, 'heapMiB' | 'threadMs'>) {
    this.#limits = limits
  }

  /**
   * Parses and checks a content. Its bytes are moved to the thread.
   * @throws ConfigError as the job does, and Error if the thread fails or exceeds a limit
   */
  run<Kind extends keyof ParsedLists>(job: ParseJob<Kind>): Promise<ParsedLists[Kind]> {
    const result = this.#last.then(() => this.#run(job))
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Stops the running thread. Its job fails. */
  close(): void {
    this.#closed = true
    void this.#worker?.terminate()
  }

  async #run<Kind extends keyof ParsedLists>(job: ParseJob<Kind>): Promise<ParsedLists[Kind]> {
    if (this.#closed) throw new Error('parsing was stopped')
    const content = ownBytesOf(job.content)
    const heapMiB = this.#limits.heapMiB()
    const worker = new Worker(ENTRY, {
      name: 'parser',
      workerData: { ...job, content },
      transferList: [content.buffer],
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    })
    this.#worker = worker
    try {
      return await listOfReply(await this.#replyOf(worker, heapMiB), job)
    } finally {
      this.#worker = null
      void worker.terminate()
    }
  }

  #replyOf(worker: Worker, heapMiB: number): Promise<ParseReply> {
    const { threadMs } = this.#limits
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`parsing takes more than ${threadMs / 1000} s`)),
        threadMs,
      )
      const fail = (message: string) => {
        clearTimeout(timer)
        reject(new Error(message))
      }
      worker.once('message', (reply: ParseReply) => {
        clearTimeout(timer)
        resolve(reply)
      })
      worker.once('error', (error) =>
        fail(isOutOfMemory(error) ? `parsing needs more than ${heapMiB} MiB of memory` : messageOf(error)),
      )
      worker.once('exit', (code) => fail(`the parsing thread ended with exit code ${code}`))
    })
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** Returns bytes that share their memory with nothing else. */
function ownBytesOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : Uint8Array.from(bytes)
}

async function listOfReply<Kind extends keyof ParsedLists>(
  reply: ParseReply,
  { file }: ParseJob<Kind>,
): Promise<ParsedLists[Kind]> {
  if (reply.outcome === 'refused') throw new ConfigError(file, reply.problems)
  if (reply.outcome === 'failed') throw new Error(reply.message)
  const items = await inSlices(receive(reply.pieces))
  reply.pieces.close()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a message of a thread has no type
  return { head: reply.head, items } as unknown as ParsedLists[Kind]
}

/** Reads the pieces of a list, with a pause after each. */
function* receive(port: MessagePort): Generator<undefined, readonly unknown[]> {
  const items: unknown[] = []
  for (;;) {
    const next = receiveMessageOnPort(port)
    if (next === undefined) return items
    for (const item of next.message) items.push(item)
    yield
  }
}
