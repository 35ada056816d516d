import type { Answer } from '../request/answer.ts'
import type { CacheRule } from './entry.ts'

/** An entry as the tier has it. */
export interface SharedEntry {
  readonly answer: Answer
  readonly seconds: number
  readonly ttlMs: number
}

/** The result of a read. */
export interface SharedReading {
  readonly result: 'hit' | 'miss' | 'corrupt' | 'error' | 'skipped'
  readonly found: SharedEntry | null
  /** The tokens for a write after this miss; null: do not write. */
  readonly tokens: string | null
}

/** Is told what other replicas evict. */
export interface TierListener {
  readonly onEvicted: (tags: readonly string[]) => void
  readonly onGap: () => void
}

/** The tier that the replicas share. It never rejects, and never waits longer than the command timeout. */
export interface SharedTier {
  /** Whether it answers; null: it was not reached yet. */
  readonly isUp: boolean | null
  read(key: string, rule: CacheRule): Promise<SharedReading>
  write(
    key: string,
    entry: Omit<SharedEntry, 'ttlMs'>,
    tokens: string,
  ): Promise<'stored' | 'refused' | 'error' | 'skipped'>
  /** Resolves when Redis, and through it the other replicas, are informed, or cannot be informed now. */
  evict(tags: readonly string[]): Promise<void>
  listen(listener: TierListener): void
  close(): Promise<void>
}
