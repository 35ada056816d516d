import { GatewayError } from '../../../errors.ts'
import { indexRecords, type Records, type RecordsOptions } from './records.ts'
import type { AuthorizationRecord, StoredRecord } from '../../../operations/authorization-record.ts'
import type { SourceState } from '../../../files/source-state.ts'

/** The source of one engine's authorization records. */
export interface RecordsSource {
  /** Returns the active records. @throws GatewayError GW_RECORDS_UNAVAILABLE if they were never read, or are too old to decide with */
  readonly current: () => Records
  /** Reads changes that were made until now. Never rejects: after a failure the active records stay, and `state` has the reason. */
  readonly refresh: () => Promise<void>
  /** Resolves after the first read, whether it succeeded or not. */
  readonly start: () => Promise<void>
  readonly close: () => void
  readonly state: () => SourceState
}

export function recordsUnavailable(): GatewayError {
  return new GatewayError('GW_RECORDS_UNAVAILABLE', { retryAfterSeconds: 1 })
}

/** Creates a function that indexes a list. It indexes again only if the list is a different one. */
export function createIndex(options: RecordsOptions): (list: readonly StoredRecord[]) => Records {
  let indexed: { readonly list: unknown; readonly records: Records } | null = null
  return (list) => {
    if (indexed?.list === list) return indexed.records
    indexed = { list, records: indexRecords(list, options) }
    return indexed.records
  }
}

interface FileRecordsOptions extends RecordsOptions {
  /** The file is watched by the code that opened it, because several engines may share it. */
  readonly file: {
    /** Null if the file could not be read for longer than the limit. */
    readonly current: () => readonly AuthorizationRecord[] | null
    readonly look: () => Promise<void>
    readonly state: () => SourceState
  }
}

/** Creates a source of records from a file. */
export function createFileRecords({ file, ...options }: FileRecordsOptions): RecordsSource {
  const index = createIndex(options)
  return {
    current: () => {
      const list = file.current()
      if (list === null) throw recordsUnavailable()
      return index(list)
    },
    refresh: file.look,
    start: () => Promise.resolve(),
    close: () => undefined,
    state: file.state,
  }
}
