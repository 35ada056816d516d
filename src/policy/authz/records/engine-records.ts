import { pathText } from '../../../operations/published/declared-names.ts'
import { type AskEngine, okBodyOf } from '../../../request/engine-request.ts'
import { type Records, type RecordsOptions, withOptions } from './records.ts'
import { locateRecord, recordById, type RecordTable } from './record-table.ts'
import { RECORDS_PATH } from './stored-records.ts'
import { type LoadedRecords, recordsUnavailable, type RecordsSource } from './records-source.ts'
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
  const { ask, parse, refreshMs, staleAfterMs, maxBytes = MAX_BYTES } = options
  const { now = () => performance.now(), schedule = scheduleTimer } = options
  let records: Records | null = null
  let table: RecordTable | null = null
  /** The digest of the response that was indexed. Parsing a large response takes half a second, and it is usually unchanged. */
  let indexedDigest = ''
  let readAt = 0
  let problem: string | null = null
  let cancel: (() => void) | null = null
  let isClosed = false
  /** A read that is in progress may have started before the change that the caller needs. In this case another read follows it. */
  const refresh = oneAfterAnother(readAndSchedule)

  function isStale(): boolean {
    return now() - readAt > staleAfterMs
  }

  /** Returns the list in force. Null if it has not been read, or is too old. */
  function tableInForce(): RecordTable | null {
    return isStale() ? null : table
  }

  async function readAndSchedule(): Promise<void> {
    cancel?.()
    if (isClosed) return
    // The records are as old as the start of the read: changes after it may be missing.
    const askedAt = now()
    const failure = await read().then(() => null, messageOf)
    // After `close`, a stopped parsing thread is not a failure.
    if (isClosed) return
    problem = failure
    if (failure === null) readAt = askedAt
    options.onRead?.(failure)
    cancel = schedule(() => void refresh(), failure === null ? refreshMs : Math.min(refreshMs, RETRY_MS))
  }

  async function read(): Promise<void> {
    const response = await ask({
      method: 'GET',
      path: RECORDS_PATH,
      limitBytes: maxBytes,
      headersMs: HEADERS_MS,
    })
    const body = okBodyOf(response, pathText(RECORDS_PATH))
    const digest = await contentDigestOf(body)
    if (digest === indexedDigest) return
    const stored = await parse(body)
    records = withOptions(stored.index, options)
    table = stored.table
    indexedDigest = digest
    options.onPartlyRead?.(stored.partlyRead)
    options.onChange?.(table, digest)
  }

  return {
    current: () => {
      if (records === null || isStale()) throw recordsUnavailable()
      return records
    },
    byId: (id) => {
      const list = tableInForce()
      return list === null ? null : recordById(list, id)
    },
    locate: (key) => {
      const list = tableInForce()
      const id = list === null ? null : (locateRecord(list, key)?.id ?? null)
      return id === null ? null : { id }
    },
    refresh,
    start: refresh,
    close: () => {
      isClosed = true
      cancel?.()
    },
    state: () => ({
      problem: records === null ? (problem ?? 'not read yet') : problem,
      ageMs: records === null ? null : now() - readAt,
    }),
  }
}
