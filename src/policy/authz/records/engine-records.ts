import { hash } from 'node:crypto'
import { isRecord } from '../../../request/value.ts'
import { type AskEngine, invalidAnswer, jsonOf } from '../../../request/engine-request.ts'
import { isPartlyRead, type Records, type RecordsOptions } from './records.ts'
import type { StoredRecord } from '../../../operations/authorization-record.ts'
import { createIndex, recordsUnavailable, type RecordsSource } from './records-source.ts'
import { messageOf } from '../../../errors.ts'
import { oneAfterAnother } from '../../../request/single-flight.ts'
import { type Schedule, scheduleTimer } from '../../../files/source-state.ts'

export interface EngineRecordsOptions extends RecordsOptions {
  readonly ask: AskEngine
  /** From one reading to the next. */
  readonly refreshMs: number
  /** Records that were last read longer ago decide nothing. */
  readonly staleAfterMs: number
  /** More are not taken; default 64 MiB, about 300,000 records. */
  readonly maxBytes?: number
  /** After each reading; null: it went well. */
  readonly onRead?: (problem: string | null) => void
  /** After each reading of another list: how many of its records are about no id, or name what is not known here. They open nothing. */
  readonly onPartlyRead?: (count: number) => void
  /** Monotonic milliseconds; default performance.now. */
  readonly now?: () => number
  readonly schedule?: Schedule
}

const MAX_BYTES = 64 * 1024 ** 2
/** After a failure it is tried again sooner. */
const RETRY_MS = 2_000
/** A write that passes through waits for a reading: an engine that hangs must not hold it for long. */
const HEADERS_MS = 10_000

/**
 * The engine's own records, in one unpaged reading: ids are in no order, so a write between two pages could make a record
 * slip through, and one that revokes would then be missing.
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
  /** Of the answer that was indexed: a large one costs half a second to take apart, and mostly it is the same. */
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

  /** A reading that is under way may have begun before the change that is asked for: then one more follows it. */
  readonly refresh: () => Promise<void> = oneAfterAnother(() => this.#run())

  close(): void {
    this.#closed = true
    this.#cancel()
  }

  async #run(): Promise<void> {
    this.#cancel()
    if (this.#closed) return
    const { now, schedule, refreshMs } = this.#options
    // As old as the moment it was asked for: what changed after that may be missing.
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
    const answer = await ask({ method: 'GET', path, limitBytes: maxBytes, headersMs: HEADERS_MS })
    const digest = hash('sha256', answer.body)
    if (answer.status === 200 && digest === this.#digest) return
    const list = jsonOf(answer, path)
    if (!Array.isArray(list) || !list.every(isStored))
      throw invalidAnswer(`The engine answered ${path} with something that is no list of records`)
    this.#records = this.#index(list)
    this.#digest = digest
    this.#onPartlyRead(list.filter(isPartlyRead).length)
  }
}

/**
 * What an engine of any version may store. An unknown type could revoke, and whatever else an engine cannot say makes one
 * doubt the whole list: then none of it is taken.
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
