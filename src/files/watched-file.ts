import { watch } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SourceState } from './source-state.ts'
import { messageOf } from '../errors.ts'
import { type Schedule, scheduleTimer } from './source-state.ts'

export interface WatchedFileOptions<T> {
  readonly path: string
  /** Throws if the content is incomplete or invalid. The bytes are not used afterwards. */
  readonly parse: (content: Buffer) => T | Promise<T>
  /** How long the last content is valid after the file can no longer be read. */
  readonly staleAfterMs: number
  /**
   * Called after each check that found a change. `problem` is null if the content was accepted, and `error` is the thrown value.
   */
  readonly onLook?: (problem: string | null, error: unknown) => void
  /** How long a file must be unchanged before it is read; default 200 ms. */
  readonly settleMs?: number
  /** Interval of checks without an event; default 5,000 ms. */
  readonly pollMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** The last valid content of a file. */
export interface WatchedFile<T> {
  /** Returns the same object until the content changes. Returns null if the file has been unreadable for too long. */
  readonly current: () => T | null
  readonly start: () => void
  readonly close: () => void
  /** Checks the file once. A change is read only after the settle time. */
  readonly look: () => Promise<void>
  readonly state: () => SourceState
}

/** Opens a file and reads it. Initial content is required. @throws errors of `parse` and of the read */
export async function openWatchedFile<T>(options: WatchedFileOptions<T>): Promise<WatchedFile<T>> {
  const signature = await signatureOf(options.path)
  const content = await options.parse(await readFile(options.path))
  const watcher = new Watcher(options, { signature, content })
  return {
    current: () => watcher.current(),
    start: () => watcher.start(),
    close: () => watcher.close(),
    look: () => watcher.look(),
    state: () => watcher.state(),
  }
}

const LINE_FEED = 0x0a

interface FileVersion<T> {
  readonly signature: string
  readonly content: T
}

class Watcher<T> {
  readonly #options: Required<WatchedFileOptions<T>>
  #accepted: FileVersion<T>
  /** The last seen signature, the time when it was first seen, and whether its content was rejected. */
  #lastSeen: { readonly signature: string; readonly since: number; readonly refused: boolean }
  #validAt: number
  #unreadableSince: number | null = null
  #problem: string | null = null
  #checking: Promise<void> | null = null
  #next: { readonly at: number; readonly cancel: () => void } | null = null
  #unwatch: (() => void) | null = null
  #closed = false

  constructor(options: WatchedFileOptions<T>, accepted: FileVersion<T>) {
    const { settleMs = 200, pollMs = 5_000, onLook = () => undefined } = options
    const { now = () => performance.now(), schedule = scheduleTimer } = options
    this.#options = { ...options, settleMs, pollMs, onLook, now, schedule }
    this.#accepted = accepted
    this.#validAt = now()
    this.#lastSeen = { signature: accepted.signature, since: this.#validAt, refused: false }
  }

  current(): T | null {
    const { now, staleAfterMs } = this.#options
    return this.#unreadableSince !== null && now() - this.#unreadableSince > staleAfterMs
      ? null
      : this.#accepted.content
  }

  state(): SourceState {
    return { problem: this.#problem, ageMs: this.#options.now() - this.#validAt }
  }

  start(): void {
    const { path, settleMs } = this.#options
    this.#unwatch ??= watchFolder(dirname(path), () => this.#scheduleCheck(settleMs))
    this.#scheduleCheck(0)
  }

  close(): void {
    this.#closed = true
    this.#unwatch?.()
    this.#next?.cancel()
  }

  look(): Promise<void> {
    this.#checking ??= this.#check().finally(() => (this.#checking = null))
    return this.#checking
  }

  #scheduleCheck(ms: number): void {
    const { now, schedule } = this.#options
    const at = now() + ms
    if (this.#closed || (this.#next !== null && this.#next.at <= at)) return
    this.#next?.cancel()
    const cancel = schedule(() => {
      this.#next = null
      void this.look().finally(() => this.#scheduleCheck(this.#options.pollMs))
    }, ms)
    this.#next = { at, cancel }
  }

  async #check(): Promise<void> {
    try {
      await this.#compare()
      // After the content has expired, only a valid file restores it.
      if (this.current() !== null) this.#unreadableSince = null
    } catch (error) {
      this.#unreadableSince ??= this.#options.now()
      this.#setProblem(error)
    }
  }

  async #compare(): Promise<void> {
    const { path, now, settleMs, pollMs } = this.#options
    const signature = await signatureOf(path)
    if (signature === this.#accepted.signature) return this.#accept(this.#accepted)
    if (signature !== this.#lastSeen.signature) this.#lastSeen = { signature, since: now(), refused: false }
    if (this.#lastSeen.refused) return
    const unchangedMs = now() - this.#lastSeen.since
    if (unchangedMs < settleMs) return this.#scheduleCheck(settleMs - unchangedMs)
    const content = await readFile(path)
    // The file changed during the read, or its last line is incomplete, so the writer may not be done.
    if ((await signatureOf(path)) !== signature) return this.#scheduleCheck(settleMs)
    if (content.at(-1) !== LINE_FEED && unchangedMs < pollMs) return this.#scheduleCheck(pollMs - unchangedMs)
    await this.#parse(signature, content)
  }

  async #parse(signature: string, content: Buffer): Promise<void> {
    try {
      this.#accept({ signature, content: await this.#options.parse(content) })
    } catch (error) {
      // After `close`, a stopped parsing thread is not a failure.
      if (this.#closed) return
      this.#lastSeen = { ...this.#lastSeen, refused: true }
      this.#setProblem(error)
    }
  }

  #accept(accepted: FileVersion<T>): void {
    const isNewer = this.#problem !== null || accepted !== this.#accepted
    this.#accepted = accepted
    this.#lastSeen = { signature: accepted.signature, since: this.#lastSeen.since, refused: false }
    this.#validAt = this.#options.now()
    this.#unreadableSince = null
    this.#problem = null
    if (isNewer) this.#options.onLook(null, null)
  }

  #setProblem(error: unknown): void {
    const problem = messageOf(error)
    if (problem === this.#problem) return
    this.#problem = problem
    this.#options.onLook(problem, error)
  }
}

/** Returns a text that differs for every content, even of the same length, and after a link is replaced. */
async function signatureOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

/**
 * Watches the folder, because an editor and a Kubernetes volume replace the file, and a watch on the file would follow the old
 * one.
 */
function watchFolder(path: string, onEvent: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onEvent)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // The system may have no watches left. In this case, the periodic check finds changes.
    return () => undefined
  }
}
