import { crc32 } from 'node:zlib'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { isRecord, jsonValueOf } from '../request/value.ts'
import { isStorable } from './storable.ts'
import { isStoredHead, storedHeadersOf } from '../redis/stored-response.ts'

/** An entry as it is stored in Redis. Redis itself stores the remaining time. */
export interface DecodedEntry {
  readonly response: BufferedResponse
  readonly seconds: number
  /** The tokens of the entry's tags, which were read before the response was requested. */
  readonly tokens: string
  /** When the entry was stored, on the clock of the process that stored it, in milliseconds since 1970. */
  readonly atMs: number
}

/** The format and its version. An entry of another version is a miss, not an error. */
const MAGIC = Buffer.from('EGC2')
const HEAD_AT = 12
/** The head contains the key, which may be as long as a URL with JSON escapes. */
const MAX_HEAD_BYTES = 128 * 1024
/** A larger value would use too much of the command timeout on a busy connection. It is cached only in memory. */
const MAX_BODY_BYTES = 1024 ** 2
/** The longest value that `encode` returns. */
export const MAX_ENCODED_BYTES = HEAD_AT + MAX_HEAD_BYTES + MAX_BODY_BYTES
/** One week, which is longer than the cache time of any operation. */
const MAX_SECONDS = 7 * 24 * 3600

/** Returns `EGC2`, the crc32 of everything after it, the length of the head, the head in JSON, and the body. Null if the entry is too long. */
export function encode(key: string, { response, seconds, tokens, atMs }: DecodedEntry): Buffer | null {
  const { status, body } = response
  const headers = storedHeadersOf(response)
  const head = Buffer.from(
    JSON.stringify({ key, tokens, seconds, atMs, status, headers, length: body.length }),
  )
  if (head.length > MAX_HEAD_BYTES || body.length > MAX_BODY_BYTES) return null
  const value = Buffer.allocUnsafe(HEAD_AT + head.length + body.length)
  MAGIC.copy(value)
  value.writeUInt32BE(head.length, 8)
  head.copy(value, HEAD_AT)
  body.copy(value, HEAD_AT + head.length)
  value.writeUInt32BE(crc32(value.subarray(8)), 4)
  return value
}

/** Returns the entry, or null for a value that `encode` did not create for this key. */
export function decode(key: string, value: Buffer): DecodedEntry | null {
  if (value.length < HEAD_AT || !value.subarray(0, 4).equals(MAGIC)) return null
  if (value.readUInt32BE(4) !== crc32(value.subarray(8))) return null
  const headBytes = value.readUInt32BE(8)
  if (headBytes > MAX_HEAD_BYTES) return null
  const bodyAt = HEAD_AT + headBytes
  const head = jsonValueOf(value.subarray(HEAD_AT, bodyAt))
  const body = value.subarray(bodyAt)
  if (!isHead(head) || head.key !== key || head.length !== body.length) return null
  const { tokens, seconds, atMs, status, headers } = head
  return { response: { status, headers, body }, seconds, tokens, atMs }
}

interface EntryHead extends Omit<DecodedEntry, 'response'>, Omit<BufferedResponse, 'body'> {
  readonly key: string
  readonly length: number
}

// The checksum only detects damage. A client that can write to Redis can also write a valid checksum, so the members are checked.
function isHead(head: unknown): head is EntryHead {
  if (!isRecord(head)) return false
  const { key, tokens, seconds, atMs, length } = head
  return (
    typeof key === 'string' &&
    typeof tokens === 'string' &&
    isIntegerUpTo(length, MAX_BODY_BYTES) &&
    isIntegerUpTo(seconds, MAX_SECONDS) &&
    isIntegerUpTo(atMs, Number.MAX_SAFE_INTEGER) &&
    isStoredHead(head, length) &&
    isStorable(head)
  )
}

function isIntegerUpTo(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max
}
