import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { fileReasonOf } from '../config/file-text.ts'
import { messageOf, type MissingPermission } from '../errors.ts'
import { isObject, isRecord, jsonValueOf } from '../request/value.ts'
import { CommandError } from './command-failure.ts'

export interface LineCounts {
  /** Lines in JSON, of all streams. */
  readonly readable: number
  readonly unreadable: number
}

/** Reads the lines of a file or a stream. A file whose name ends in `.gz` is decompressed. @throws CommandError with the reason if it cannot be read */
export async function* linesOf(from: string | Readable): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: inputOf(from), crlfDelay: Number.POSITIVE_INFINITY })
  } catch (cause) {
    const name = typeof from === 'string' ? from : 'standard input'
    throw new CommandError(`${name} ${fileReasonOf(cause) ?? messageOf(cause)}`, { cause })
  }
}

function inputOf(from: string | Readable): Readable {
  if (typeof from !== 'string') return from
  const file = createReadStream(from)
  if (!from.endsWith('.gz')) return file
  const lines = createGunzip()
  file.on('error', (error) => lines.destroy(error))
  return file.pipe(lines)
}

/**
 * Passes each line of the audit stream to `add`. Lines of other streams are left out.
 * @throws CommandError with the reason if the lines cannot be read
 */
export async function readAuditLines(
  from: string | Readable,
  add: (line: Readonly<Record<string, unknown>>) => void,
): Promise<LineCounts> {
  let readable = 0
  let unreadable = 0
  for await (const text of linesOf(from)) {
    if (text.trim() === '') continue
    const value = jsonValueOf(text)
    if (!isObject(value)) {
      unreadable += 1
      continue
    }
    readable += 1
    if (value['stream'] === 'audit') add(value)
  }
  return { readable, unreadable }
}

/** Returns whether a value of an audit line is a missing permission. */
export function isMissingPermission(value: unknown): value is MissingPermission {
  if (!isRecord(value)) return false
  const { permission, resource, resourceId, need } = value
  const names = [permission, resource, resourceId]
  return names.every((name) => typeof name === 'string') && typeof need === 'number'
}
