import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { messageOf } from '../errors.ts'
import { isRecord } from '../request/value.ts'

/** Counts of lines that were read. */
export interface LineCounts {
  /** Lines in JSON, of all streams. */
  readonly readable: number
  readonly unreadable: number
}

/**
 * Passes each line of the audit stream to `add`. Lines of other streams are left out.
 * @returns the counts of lines, or the problem that stopped the reading
 */
export async function readAuditLines(
  from: string | Readable,
  add: (line: Readonly<Record<string, unknown>>) => void,
): Promise<LineCounts & { readonly problem: string | null }> {
  const input = typeof from === 'string' ? createReadStream(from) : from
  let readable = 0
  let unreadable = 0
  try {
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (text.trim() === '') continue
      const value = valueOf(text)
      if (value === null) unreadable += 1
      else readable += 1
      if (value?.['stream'] === 'audit') add(value)
    }
    return { readable, unreadable, problem: null }
  } catch (cause) {
    const name = typeof from === 'string' ? from : 'standard input'
    return { readable, unreadable, problem: `${name}: ${messageOf(cause)}` }
  }
}

/** Returns null if the text is not a JSON object. */
function valueOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
