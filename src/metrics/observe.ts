/** What is known of a request when its answer has gone; `null` and `''` where a stage was not reached. */
export interface Access {
  readonly requestId: string
  readonly operation: string | null
  readonly engine: string | null
  readonly method: string
  readonly status: number
  readonly durationMs: number
  readonly user: string | null
  readonly node: string | null
  /** The `Cache-Status` member, for operations that may be cached. */
  readonly cache: string | null
  readonly bytes: number
  /** The `GW_…` code, or the reason of a refusal. */
  readonly error: string | null
}

export type AccessRecord = Readonly<Record<string, string | number>>

/** A longer value is the caller's making: a user name, a method. */
const MAX_CHARS = 256

/** The access line's members; those that say nothing are left out. */
export function accessRecordOf(access: Access): AccessRecord {
  const record: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(access)) {
    if (value === null || value === '') continue
    record[name] = typeof value === 'string' ? bounded(value) : value
  }
  record['durationMs'] = Math.round(access.durationMs * 1000) / 1000
  return record
}

function bounded(value: string): string {
  if (value.length <= MAX_CHARS) return value
  // Not between the two halves of a character.
  return `${value.slice(0, MAX_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
