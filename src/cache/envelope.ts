import { validateHeaderName, validateHeaderValue } from 'node:http'
import { crc32 } from 'node:zlib'
import type { Answer } from './entry.ts'

/** What Redis holds of an entry; how long it still holds is Redis's own knowledge. */
export interface Sealed {
  readonly answer: Answer
  readonly seconds: number
  /** Of the entry's tags, when the answer was asked for. */
  readonly tokens: string
}

/** Format and version: another version is a miss, not an error. */
const MAGIC = Buffer.from('EGC1')
const HEAD_AT = 12

/** `EGC1`, crc32 of all that follows it, length of the head, the head in JSON, the body. */
export function seal(key: string, { answer, seconds, tokens }: Sealed): Buffer {
  const { status, headers, body } = answer
  const head = Buffer.from(JSON.stringify({ key, tokens, seconds, status, headers, length: body.length }))
  const value = Buffer.allocUnsafe(HEAD_AT + head.length + body.length)
  MAGIC.copy(value)
  value.writeUInt32BE(head.length, 8)
  head.copy(value, HEAD_AT)
  body.copy(value, HEAD_AT + head.length)
  value.writeUInt32BE(crc32(value.subarray(8)), 4)
  return value
}

/** `null` for a value that is not what `seal` made for this key, whatever it is. */
export function unseal(key: string, value: Buffer): Sealed | null {
  if (value.length < HEAD_AT || !value.subarray(0, 4).equals(MAGIC)) return null
  if (value.readUInt32BE(4) !== crc32(value.subarray(8))) return null
  const bodyAt = HEAD_AT + value.readUInt32BE(8)
  const head = headOf(value.subarray(HEAD_AT, bodyAt))
  const body = value.subarray(bodyAt)
  if (head === null || head.key !== key || head.length !== body.length) return null
  const { tokens, seconds, status, headers } = head
  return { answer: { status, headers, body }, seconds, tokens }
}

interface Head extends Omit<Sealed, 'answer'>, Omit<Answer, 'body'> {
  readonly key: string
  readonly length: number
}

function headOf(bytes: Buffer): Head | null {
  try {
    const head: unknown = JSON.parse(bytes.toString())
    return isHead(head) ? head : null
  } catch {
    return null
  }
}

// The sum only proves that the bytes are whole: whoever can write to Redis can write a sum too.
function isHead(head: unknown): head is Head {
  if (typeof head !== 'object' || head === null) return false
  const { key, tokens, seconds, status, headers, length } = head as Partial<Record<keyof Head, unknown>>
  return (
    typeof key === 'string' &&
    typeof tokens === 'string' &&
    typeof length === 'number' &&
    typeof seconds === 'number' &&
    status === 200 &&
    typeof headers === 'object' &&
    headers !== null &&
    Object.entries(headers).every(([name, value]) => isField(name, value))
  )
}

/** Whether Node would write it as a header of an answer. */
export function isField(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name)
    for (const line of Array.isArray(value) ? value : [value]) {
      if (typeof line !== 'string') return false
      validateHeaderValue(name, line)
    }
    return true
  } catch {
    return false
  }
}
