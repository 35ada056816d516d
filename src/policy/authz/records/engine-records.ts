import type { StoredRecord } from '../../../operations/authorization-record.ts'
import { type AskEngine, okBodyOf } from '../../../request/engine-request.ts'
import { type Records, type RecordsOptions, withOptions } from './records.ts'
import { locateRecord, recordById, type RecordKey, type RecordTable } from './record-table.ts'
import { RECORDS_PATH } from './stored-records.ts'
import {
  type LoadedRecords,
  type RecordLocation,
  recordsUnavailable,
  type RecordsSource,
} from './records-source.ts'
import { messageOf } from '../../../errors.ts'
import { oneAfterAnother } from '../../../request/single-flight.ts'
import { contentDigestOf } from '../../../files/content-digest.ts'
import { type Schedule, scheduleTimer } from '../../../files/source-state.ts'

export interface EngineRecordsOptions extends RecordsOptions {
  readonly ask: AskEngine
  /** Checks and indexes the body of a response. The bytes are not used afterwards. */
  readonly parse: (body: Buffer) => Promise<StoredIndex>
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
  /** Called after each read of a changed list, with the list and the digest of the response. */
  readonly onChange?: (table: RecordTable, digest: string) => void
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

/** The records of an engine, and how many of them say less here than in the engine. */
export interface StoredIndex extends LoadedRecords {
  readonly partlyRead: number
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
    byId: (id) => records.byId(id),
    locate: (key) => records.locate(key),
    refresh: () => records.refresh(),
    start: () => records.refresh(),
    close: () => records.close(),
    state: () => records.state(),
  }
}

class EngineRecords {
  readonly #options: Required<
    Omit<EngineRecordsOptions, keyof RecordsOptions | 'onRead' | 'onPartlyRead' | 'onChange'>
  > &
    RecordsOptions
  readonly #onRead: (problem: string | null) => void
  readonly #onPartlyRead: (count: number) => void
  readonly #onChange: NonNullable<EngineRecordsOptions['onChange']>
  #records: Records | null = null
  #table: RecordTable | null = null
  /** The digest of the response that was indexed. Parsing a large response takes half a second, and it is usually unchanged. */
  #digest = ''
  #readAt = 0
  #problem: string | null = null
  #cancel: () => void = () => undefined
  #closed = false

  constructor(options: EngineRecordsOptions) {
    const { now = () => performance.now(), schedule = scheduleTimer, maxBytes = MAX_BYTES } = options
    this.#options = { ...options, now, schedule, maxBytes }
    this.#onRead = options.onRead ?? (() => undefined)
    this.#onPartlyRead = options.onPartlyRead ?? (() => undefined)
    this.#onChange = options.onChange ?? (() => undefined)
  }

  current(): Records {
    if (this.#records === null || this.#isStale()) throw recordsUnavailable()
    return this.#records
  }

  #isStale(): boolean {
    const { now, staleAfterMs } = this.#options
    return now() - this.#readAt > staleAfterMs
  }

  /** The list in force. Null if it has not been read, or is too old. */
  get #inForce(): RecordTable | null {
    return this.#isStale() ? null : this.#table
  }

  byId(id: string): StoredRecord | null {
    const table = this.#inForce
    return table === null ? null : recordById(table, id)
  }

  locate(key: RecordKey): RecordLocation | null {
    const table = this.#inForce
    const id = table === null ? null : (locateRecord(table, key)?.id ?? null)
    return id === null ? null : { id }
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
    const problem = await this.#read().then(() => null, messageOf)
    // After `close`, a stopped parsing thread is not a failure.
    if (this.#closed) return
    this.#problem = problem
    if (this.#problem === null) this.#readAt = askedAt
    this.#onRead(this.#problem)
    const ms = this.#problem === null ? refreshMs : Math.min(refreshMs, RETRY_MS)
    this.#cancel = schedule(() => void this.refresh(), ms)
  }

  async #read(): Promise<void> {
    const { ask, maxBytes, parse } = this.#options
    const response = await ask({
      method: 'GET',
      path: RECORDS_PATH,
      limitBytes: maxBytes,
      headersMs: HEADERS_MS,
    })
    const body = okBodyOf(response, RECORDS_PATH)
    const digest = await contentDigestOf(body)
    if (digest === this.#digest) return
    const { index, table, partlyRead } = await parse(body)
    this.#records = withOptions(index, this.#options)
    this.#table = table
    this.#digest = digest
    this.#onPartlyRead(partlyRead)
    this.#onChange(table, digest)
  }
}
