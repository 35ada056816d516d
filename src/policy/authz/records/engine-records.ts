import { hash } from 'node:crypto'
import { isRecord } from '../../../request/value.ts'
import { type AskEngine, invalidResponse, jsonOf } from '../../../request/engine-request.ts'
import { isPartlyRead, type Records, type RecordsOptions } from './records.ts'
import type { StoredRecord } from '../../../operations/authorization-record.ts'
import { createIndex, recordsUnavailable, type RecordsSource } from './records-source.ts'
import { messageOf } from '../../../errors.ts'
import { oneAfterAnother } from '../../../request/single-flight.ts'
import { type Schedule, scheduleTimer } from '../../../files/source-state.ts'

export interface EngineRecordsOptions extends RecordsOptions {
  readonly ask: AskEngine
  /** The time between two reads, in milliseconds. */
  readonly refreshMs: number
  /** If the last read is older than this, in milliseconds, the records decide nothing. */
  readonly staleAfterMs: number
  /** The largest response that is accepted, in bytes. Default: 64 MiB, about 300,000 records. */
  readonly maxBytes?: number
  /** Called after each read. Null if it succeeded. */
  readonly onRead?: (problem: string | null) => void
  /**
   * Called after each read of a changed list, with the number of records that have no id, or name something that is unknown
   * here. They grant nothing.
   */
  readonly onPartlyRead?: (count: number) => void
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

const MAX_BYTES = 64 * 1024 ** 2
/** The delay before the next attempt after a failure. It is shorter than the normal interval. */
const RETRY_MS = 2_000
/** A write that is forwarded waits for a read, so an engine that hangs must not delay it for long. */
const HEADERS_MS = 10_000

/**
 * Creates a source that reads the engine's own records in one request without paging. Ids have no order, so a write between
 * two pages could make a record disappear, and a revocation would then be missing.
 */
export function createEngineRecords(options: EngineRecordsOptions): RecordsSource {
  const records = new EngineRecords(options)
  return {
    current: () => records.current(),
    refresh: () => records.refresh(),
    start: () => records.refresh(),
    close: () => records.close(),
    state: () => records.state(),
  }
}

class EngineRecords {
  readonly #options: Required<Omit<EngineRecordsOptions, keyof RecordsOptions | 'onRead' | 'onPartlyRead'>>
  readonly #index: (list: readonly StoredRecord[]) => Records
  readonly #onRead: (problem: string | null) => void
  readonly #onPartlyRead: (count: number) => void
  #records: Records | null = null
  /** The digest of the response that was indexed. Parsing a large response takes half a second, and it is usually unchanged. */
  #digest = ''
  #readAt = 0
  #problem: string | null = null
  #cancel: () => void = () => undefined
  #closed = false

  constructor(options: EngineRecordsOptions) {
    const { now = () => performance.now(), schedule = scheduleTimer, maxBytes = MAX_BYTES } = options
    this.#options = { ...options, now, schedule, maxBytes }
    this.#index = createIndex(options)
    this.#onRead = options.onRead ?? (() => undefined)
    this.#onPartlyRead = options.onPartlyRead ?? (() => undefined)
  }

  current(): Records {
    const { now, staleAfterMs } = this.#options
    if (this.#records === null || now() - this.#readAt > staleAfterMs) throw recordsUnavailable()
    return this.#records
  }

  state() {
    const ageMs = this.#records === null ? null : this.#options.now() - this.#readAt
    return { problem: this.#records === null ? (this.#problem ?? 'not read yet') : this.#problem, ageMs }
  }

  /** A read that is in progress may have started before the change that the caller needs. In this case another read follows it. */
  readonly refresh: () => Promise<void> = oneAfterAnother(() => this.#run())

  close(): void {
    this.#closed = true
    this.#cancel()
  }

  async #run(): Promise<void> {
    this.#cancel()
    if (this.#closed) return
    const { now, schedule, refreshMs } = this.#options
    // The records are as old as the start of the read: changes after it may be missing.
    const askedAt = now()
    this.#problem = await this.#read().then(() => null, messageOf)
    if (this.#problem === null) this.#readAt = askedAt
    this.#onRead(this.#problem)
    const ms = this.#problem === null ? refreshMs : Math.min(refreshMs, RETRY_MS)
    if (!this.#closed) this.#cancel = schedule(() => void this.refresh(), ms)
  }

  async #read(): Promise<void> {
    const path = '/authorization'
    const { ask, maxBytes } = this.#options
    const response = await ask({ method: 'GET', path, limitBytes: maxBytes, headersMs: HEADERS_MS })
    const digest = hash('sha256', response.body)
    if (response.status === 200 && digest === this.#digest) return
    const list = jsonOf(response, path)
    if (!Array.isArray(list) || !list.every(isStored))
      throw invalidResponse(`The engine's response to ${path} is not a list of authorization records`)
    this.#records = this.#index(list)
    this.#digest = digest
    this.#onPartlyRead(list.filter(isPartlyRead).length)
  }
}

/**
 * Returns whether a value is a record that an engine of any version may store. A record of an unknown type could be a
 * revocation, and any other impossible value makes the whole list doubtful. In both cases the whole list is rejected.
 */
function isStored(value: unknown): value is StoredRecord {
  if (!isRecord(value)) return false
  const { type, permissions, userId, groupId, resourceType, resourceId } = value
  return (
    (type === 0 || type === 1 || type === 2) &&
    Array.isArray(permissions) &&
    permissions.every((permission) => typeof permission === 'string') &&
    [userId, groupId].every((id) => id === null || id === undefined || typeof id === 'string') &&
    typeof resourceType === 'number' &&
    (resourceId === null || typeof resourceId === 'string')
  )
}
