import { GatewayError } from '../../../errors.ts'
import type { StoredRecord } from '../../../operations/authorization-record.ts'
import { locateRecord, type RecordKey, type RecordTable } from './record-table.ts'
import { type RecordIndex, type Records, type RecordsOptions, withOptions } from './records.ts'
import type { SourceState } from '../../../files/source-state.ts'

/** The source of one engine's authorization records. */
export interface RecordsSource {
  /** Returns the active records. @throws GatewayError GW_RECORDS_UNAVAILABLE if they were never read, or are too old to decide with */
  readonly current: () => Records
  /**
   * Returns a record of the engine by its id, as last read. Null if there is none, if a part of it is unknown here, or if the records
   * in force are those of a file.
   */
  readonly byId: (id: string) => StoredRecord | null
  /** Returns where a record is in its source: its id at the engine, or its position in the file. Null if that is not known. */
  readonly locate: (key: RecordKey) => RecordLocation | null
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

export type RecordLocation = { readonly id: string } | { readonly position: number }

/** The index of a list of records, and the list itself. */
export interface LoadedRecords {
  readonly index: RecordIndex
  readonly table: RecordTable
}

interface FileRecordsOptions extends RecordsOptions {
  /** The file is watched by the code that opened it, because several engines may share it. */
  readonly file: {
    /** Null if the file could not be read for longer than the limit. */
    readonly current: () => LoadedRecords | null
    readonly look: () => Promise<void>
    readonly state: () => SourceState
  }
}

/** Creates a source of records from a file. */
export function createFileRecords({ file, ...options }: FileRecordsOptions): RecordsSource {
  let inForce: { readonly index: RecordIndex; readonly records: Records } | null = null
  return {
    current: () => {
      const content = file.current()
      if (content === null) throw recordsUnavailable()
      const { index } = content
      if (inForce?.index !== index) inForce = { index, records: withOptions(index, options) }
      return inForce.records
    },
    byId: () => null,
    locate: (key) => {
      const content = file.current()
      const location = content === null ? null : locateRecord(content.table, key)
      return location === null ? null : { position: location.position }
    },
    refresh: file.look,
    start: () => Promise.resolve(),
    close: () => undefined,
    state: file.state,
  }
}
