import type { BufferedResponse } from '../request/buffered-response.ts'
import { isRecord, jsonValueOf } from '../request/value.ts'
import { isStoredHead, isStoredStatus } from '../redis/stored-response.ts'

/** The value in Redis under an idempotency key. */
export type IdempotencyRecord =
  /** A request is in flight, or its gateway ended before the response arrived. */
  | {
      readonly state: 'claimed'
      readonly fingerprint: string
      readonly owner: string
      /** The time to live that the claim was given. */
      readonly keepMs: number
      /** After this time the request counts as lost. It is not executed again in either case. */
      readonly underWayMs: number
    }
  | { readonly state: 'unknown'; readonly fingerprint: string }
  | (CompletedOutcome & { readonly fingerprint: string })
  | (UnstoredOutcome & { readonly fingerprint: string })

export interface CompletedOutcome {
  readonly state: 'done'
  readonly answer: BufferedResponse
  /** The host and prefix of the links in the body. */
  readonly address: string
}

/** The outcome of an executed request whose response was too large to store. */
export interface UnstoredOutcome {
  readonly state: 'not kept'
  readonly status: number
}

/** The largest body that is stored. */
export const MAX_KEPT_BYTES = 256 * 1024
/** The longest line before a body. */
const MAX_LINE_BYTES = 64 * 1024
/** The longest value that `encodeRecord` returns. */
export const MAX_RECORD_BYTES = MAX_LINE_BYTES + MAX_KEPT_BYTES

/** Returns a line of JSON, followed by the body. */
export function encodeRecord(stored: IdempotencyRecord): Buffer {
  if (stored.state !== 'done') return Buffer.from(`${JSON.stringify(stored)}\n`)
  const { body, ...answer } = stored.answer
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...stored, answer, length: body.length })}\n`), body])
}

/** Returns null for a value that `encodeRecord` did not create, because any client that can write to Redis can write a line of JSON. */
export function decodeRecord(value: Buffer): IdempotencyRecord | null {
  const end = value.indexOf('\n')
  if (end > MAX_LINE_BYTES || value.length > MAX_RECORD_BYTES) return null
  const head = end === -1 ? undefined : jsonValueOf(value.subarray(0, end))
  if (!isRecord(head)) return null
  const { state, fingerprint, status } = head
  if (typeof fingerprint !== 'string') return null
  if (state === 'unknown') return { state, fingerprint }
  if (state === 'not kept') return isStoredStatus(status) ? { state, fingerprint, status } : null
  if (state === 'done') return doneIn(head, fingerprint, value.subarray(end + 1))
  return state === 'claimed' ? claimIn(head, fingerprint) : null
}

type RecordHead = Readonly<Record<string, unknown>>

/** The upper limit of every time in a record. */
const MAX_MS = Number.MAX_SAFE_INTEGER
/** The longest address: a host name of 253 characters, its port, a prefix and the name of an engine. */
const MAX_ADDRESS_CHARS = 1024

function claimIn({ owner, keepMs, underWayMs }: RecordHead, fingerprint: string): IdempotencyRecord | null {
  if (typeof owner !== 'string' || !isMs(keepMs) || !isMs(underWayMs)) return null
  return { state: 'claimed', fingerprint, owner, keepMs, underWayMs }
}

function doneIn(
  { answer, address, length }: RecordHead,
  fingerprint: string,
  body: Buffer,
): IdempotencyRecord | null {
  if (!isStoredHead(answer, body.length) || length !== body.length) return null
  if (typeof address !== 'string' || address === '' || address.length > MAX_ADDRESS_CHARS) return null
  const { status, headers } = answer
  return { state: 'done', fingerprint, address, answer: { status, headers, body } }
}

function isMs(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_MS
}
