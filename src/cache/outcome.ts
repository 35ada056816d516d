import type { Answer } from './entry.ts'
import { isField } from './envelope.ts'

/** What Redis holds under a key that a client has chosen. */
export type Stored =
  /** A request is under way, or its gateway has ended before it was answered. */
  | {
      readonly state: 'claimed'
      readonly fingerprint: string
      readonly owner: string
      /** The time to live that it was given. */
      readonly keepMs: number
      /** Older than this it is taken to be lost; it is not done again either way. */
      readonly underWayMs: number
    }
  | { readonly state: 'unknown'; readonly fingerprint: string }
  | (Done & { readonly fingerprint: string })
  | (NotKept & { readonly fingerprint: string })

export interface Done {
  readonly state: 'done'
  readonly answer: Answer
  /** Host and prefix to which the links in the body lead. */
  readonly address: string
}

/** Done, and answered with more than is kept. */
export interface NotKept {
  readonly state: 'not kept'
  readonly status: number
}

/** A line of JSON, then the body. */
export function packed(stored: Stored): Buffer {
  if (stored.state !== 'done') return Buffer.from(`${JSON.stringify(stored)}\n`)
  const { body, ...answer } = stored.answer
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...stored, answer, length: body.length })}\n`), body])
}

/** Null for a value that is not what `packed` made: whoever can write to Redis can write a line of JSON. */
export function unpacked(value: Buffer): Stored | null {
  const end = value.indexOf('\n')
  const head = end === -1 ? null : parsed(value.subarray(0, end))
  const { state, fingerprint, status } = head ?? {}
  if (head === null || typeof fingerprint !== 'string') return null
  if (state === 'unknown') return { state, fingerprint }
  if (state === 'not kept' && typeof status === 'number') return { state, fingerprint, status }
  if (state === 'done') return doneIn(head, fingerprint, value.subarray(end + 1))
  return state === 'claimed' ? claimIn(head, fingerprint) : null
}

type Head = Readonly<Record<string, unknown>>

function claimIn({ owner, keepMs, underWayMs }: Head, fingerprint: string): Stored | null {
  if (typeof owner !== 'string' || typeof keepMs !== 'number' || typeof underWayMs !== 'number') return null
  return { state: 'claimed', fingerprint, owner, keepMs, underWayMs }
}

function doneIn({ answer, address, length }: Head, fingerprint: string, body: Buffer): Stored | null {
  if (!isHead(answer) || typeof address !== 'string' || length !== body.length) return null
  return { state: 'done', fingerprint, address, answer: { ...answer, body } }
}

function isHead(value: unknown): value is Omit<Answer, 'body'> {
  if (!isObject(value) || !isObject(value['headers'])) return false
  const { status, headers } = value
  return (
    Number.isInteger(status) &&
    Number(status) >= 200 &&
    Number(status) <= 599 &&
    Object.entries(headers).every(([name, field]) => isField(name, field))
  )
}

function parsed(bytes: Buffer): Head | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Head {
  return typeof value === 'object' && value !== null
}
