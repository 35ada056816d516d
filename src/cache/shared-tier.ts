import type { BufferedResponse } from '../request/buffered-response.ts'
import type { CacheRule } from './entry.ts'

/** An entry of the shared tier. */
export interface SharedEntry {
  readonly response: BufferedResponse
  readonly seconds: number
  readonly ttlMs: number
}

/** The result of a read. */
export interface SharedReading {
  readonly result: 'hit' | 'miss' | 'corrupt' | 'error' | 'skipped'
  readonly found: SharedEntry | null
  /** The tokens for a write after this miss. Null if nothing must be written. */
  readonly tokens: string | null
}

/** Receives the evictions of other replicas. */
export interface TierListener {
  readonly onEvicted: (tags: readonly string[]) => void
  readonly onGap: () => void
}

/** The tier that the replicas share. It never rejects, and never waits longer than the command timeout. */
export interface SharedTier {
  /** True if Redis replies. Null if it has neither replied nor failed yet. */
  readonly isUp: boolean | null
  read(key: string, rule: CacheRule): Promise<SharedReading>
  write(
    key: string,
    entry: Omit<SharedEntry, 'ttlMs'>,
    tokens: string,
  ): Promise<'stored' | 'refused' | 'error' | 'skipped'>
  /** Resolves when Redis and the other replicas have received the eviction, or cannot receive it now. */
  evict(tags: readonly string[]): Promise<void>
  listen(listener: TierListener): void
  close(): Promise<void>
}
