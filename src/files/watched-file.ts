import { watch } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { SourceState } from './source-state.ts'
import { type Schedule, scheduleTimer, problemOf } from './source-state.ts'

export interface WatchedFileOptions<T> {
  readonly path: string
  /** Throws on a text that is not complete and valid. */
  readonly parse: (text: string) => T
  /** How long the last content counts once the file cannot be read any more. */
  readonly staleAfterMs: number
  /** After each look that found something new; null: it was taken. `error` is what was thrown. */
  readonly onLook?: (problem: string | null, error: unknown) => void
  /** How long a file must not have changed to be read; default 200 ms. */
  readonly settleMs?: number
  /** Looks without an event; default 5,000 ms. */
  readonly pollMs?: number
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** The content of a file as it was when it was last good. */
export interface WatchedFile<T> {
  /** The same object until the content changes; null: the file is gone for longer than is tolerable. */
  readonly current: () => T | null
  /** Watches from now on. */
  readonly start: () => void
  readonly close: () => void
  /** One look: at most it starts the time in which nothing may change. */
  readonly look: () => Promise<void>
  readonly state: () => SourceState
}

/** @throws what `parse` or the reading throws: a first content is needed */
export async function openWatchedFile<T>(options: WatchedFileOptions<T>): Promise<WatchedFile<T>> {
  const signature = await signatureOf(options.path)
  const content = options.parse(await readFile(options.path, 'utf8'))
  const watcher = new Watcher(options, { signature, content })
  return {
    current: () => watcher.current(),
    start: () => watcher.start(),
    close: () => watcher.close(),
    look: () => watcher.look(),
    state: () => watcher.state(),
  }
}

interface Taken<T> {
  readonly signature: string
  readonly content: T
}

class Watcher<T> {
  readonly #options: Required<WatchedFileOptions<T>>
  #taken: Taken<T>
  /** The signature that was seen last, since when, and whether its content was refused. */
  #seen: { readonly signature: string; readonly since: number; readonly refused: boolean }
  #goodAt: number
  #goneAt: number | null = null
  #problem: string | null = null
  #looking: Promise<void> | null = null
  #next: { readonly at: number; readonly cancel: () => void } | null = null
  #unwatch: (() => void) | null = null
  #closed = false

  constructor(options: WatchedFileOptions<T>, taken: Taken<T>) {
    const { settleMs = 200, pollMs = 5_000, onLook = () => undefined } = options
    const { now = () => performance.now(), schedule = scheduleTimer } = options
    this.#options = { ...options, settleMs, pollMs, onLook, now, schedule }
    this.#taken = taken
    this.#goodAt = now()
    this.#seen = { signature: taken.signature, since: this.#goodAt, refused: false }
  }

  current(): T | null {
    const { now, staleAfterMs } = this.#options
    return this.#goneAt !== null && now() - this.#goneAt > staleAfterMs ? null : this.#taken.content
  }

  state(): SourceState {
    return { problem: this.#problem, ageMs: this.#options.now() - this.#goodAt }
  }

  start(): void {
    const { path, settleMs } = this.#options
    this.#unwatch ??= watchFolder(dirname(path), () => this.#lookIn(settleMs))
    this.#lookIn(0)
  }

  close(): void {
    this.#closed = true
    this.#unwatch?.()
    this.#next?.cancel()
  }

  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = null))
    return this.#looking
  }

  #lookIn(ms: number): void {
    const { now, schedule } = this.#options
    const at = now() + ms
    if (this.#closed || (this.#next !== null && this.#next.at <= at)) return
    this.#next?.cancel()
    const cancel = schedule(() => {
      this.#next = null
      void this.look().finally(() => this.#lookIn(this.#options.pollMs))
    }, ms)
    this.#next = { at, cancel }
  }

  async #look(): Promise<void> {
    try {
      await this.#compare()
      // Once too old, it takes more than a file that cannot be taken to bring the content back.
      if (this.current() !== null) this.#goneAt = null
    } catch (error) {
      this.#goneAt ??= this.#options.now()
      this.#isTroubled(error)
    }
  }

  async #compare(): Promise<void> {
    const { path, now, settleMs, pollMs } = this.#options
    const signature = await signatureOf(path)
    if (signature === this.#taken.signature) return this.#isGood(this.#taken)
    if (signature !== this.#seen.signature) this.#seen = { signature, since: now(), refused: false }
    if (this.#seen.refused) return
    const settled = now() - this.#seen.since
    if (settled < settleMs) return this.#lookIn(settleMs - settled)
    const text = await readFile(path, 'utf8')
    // Written to while it was read; or a line has no end yet, so its writer may not be done.
    if ((await signatureOf(path)) !== signature) return this.#lookIn(settleMs)
    if (!text.endsWith('\n') && settled < pollMs) return this.#lookIn(pollMs - settled)
    this.#take(signature, text)
  }

  #take(signature: string, text: string): void {
    try {
      this.#isGood({ signature, content: this.#options.parse(text) })
    } catch (error) {
      this.#seen = { ...this.#seen, refused: true }
      this.#isTroubled(error)
    }
  }

  #isGood(taken: Taken<T>): void {
    const isNewer = this.#problem !== null || taken !== this.#taken
    this.#taken = taken
    this.#seen = { signature: taken.signature, since: this.#seen.since, refused: false }
    this.#goodAt = this.#options.now()
    this.#goneAt = null
    this.#problem = null
    if (isNewer) this.#options.onLook(null, null)
  }

  #isTroubled(error: unknown): void {
    const problem = problemOf(error)
    if (problem === this.#problem) return
    this.#problem = problem
    this.#options.onLook(problem, error)
  }
}

/** Another for every content: also one of the same length, and one that came by the swap of a link. */
async function signatureOf(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

/** Of the folder: an editor and a Kubernetes volume replace the file, and a watch on the file would stay with the old one. */
function watchFolder(path: string, onEvent: () => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, onEvent)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    // There may be no watch left to have; then the slow look finds it.
    return () => undefined
  }
}
