import { GatewayError } from '../../../errors.ts'
import { indexRecords, type Records, type RecordsOptions } from './records.ts'
import type { AuthorizationRecord, StoredRecord } from '../../../operations/authorization-record.ts'
import type { SourceState } from '../../../files/source-state.ts'

/** Where the authorization records of one engine come from. */
export interface RecordsSource {
  /** The records in force. @throws GatewayError GW_RECORDS_UNAVAILABLE: never read, or too old to decide by */
  readonly current: () => Records
  /** Reads anew what may have changed until now. Never rejects: what is in force stays, and `state` says why. */
  readonly refresh: () => Promise<void>
  /** Resolves after the first reading, good or not. */
  readonly start: () => Promise<void>
  readonly close: () => void
  readonly state: () => SourceState
}

export function recordsUnavailable(): GatewayError {
  return new GatewayError('GW_RECORDS_UNAVAILABLE', { retryAfterSeconds: 1 })
}

/** Indexes anew only when the list is another one. */
export function createIndex(options: RecordsOptions): (list: readonly StoredRecord[]) => Records {
  let indexed: { readonly list: unknown; readonly records: Records } | null = null
  return (list) => {
    if (indexed?.list === list) return indexed.records
    indexed = { list, records: indexRecords(list, options) }
    return indexed.records
  }
}

interface FileRecordsOptions extends RecordsOptions {
  /** It is watched by whoever opened it: other engines may share it. */
  readonly file: {
    /** Null: there was nothing to read for longer than is tolerable. */
    readonly current: () => readonly AuthorizationRecord[] | null
    readonly look: () => Promise<void>
    readonly state: () => SourceState
  }
}

/** Records in a file. */
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
