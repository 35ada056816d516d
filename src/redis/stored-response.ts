import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { isObject, isRecord } from '../request/value.ts'

/**
 * Headers that describe a body. Only these are stored in Redis: no connection headers (RFC 9110 section 7.6.1), no length, no
 * cookie, no redirect, and no header that permits other origins to read a response.
 */
const STORED: ReadonlySet<string> = new Set([
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-security-policy',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'pragma',
  'vary',
  'warning',
  'x-content-type-options',
  'x-frame-options',
])

/** The head of an engine's response has at most 16 KiB. */
const MAX_HEADER_CHARS = 16 * 1024
const MAX_LINES = 16
/** RFC 9110 section 15: a response with one of these statuses has no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205])
/** Statuses of responses that are not stored: nothing was executed, or the outcome is unknown. */
const NEVER_STORED: ReadonlySet<number> = new Set([401, 429, 502, 503, 504])

type StoredResponseHead = Pick<BufferedResponse, 'status' | 'headers'>

/** Returns the headers of a response that are stored in Redis. */
export function storedHeadersOf({ headers }: Pick<BufferedResponse, 'headers'>): BufferedResponse['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name, value]) => isStoredHeader(name, value)))
}

/** Returns whether a value from Redis can be the status and headers of a response that a gateway stored. */
export function isStoredHead(head: unknown, bodyBytes: number): head is StoredResponseHead {
  if (!isRecord(head)) return false
  const { status, headers } = head
  if (!isStoredStatus(status) || !isObject(headers)) return false
  if (bodyBytes > 0 && BODILESS.has(status)) return false
  const fields = Object.entries(headers)
  return fields.every(([name, value]) => isStoredHeader(name, value)) && charsOf(fields) <= MAX_HEADER_CHARS
}

/** Returns whether the engine itself has responded: no redirect, and no status that leaves the outcome unknown. */
export function isStoredStatus(status: unknown): status is number {
  return (
    typeof status === 'number' &&
    Number.isInteger(status) &&
    ((status >= 200 && status <= 299) || (status >= 400 && status <= 599)) &&
    !NEVER_STORED.has(status)
  )
}

function isStoredHeader(name: string, value: unknown): value is string | string[] {
  if (!STORED.has(name)) return false
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value]
  return lines.length > 0 && lines.length <= MAX_LINES && lines.every((line) => isLine(name, line))
}

/** Returns whether Node.js would write it as a response header. */
function isLine(name: string, line: unknown): boolean {
  if (typeof line !== 'string') return false
  try {
    validateHeaderName(name)
    validateHeaderValue(name, line)
    return true
  } catch {
    return false
  }
}

function charsOf(fields: readonly (readonly [name: string, value: unknown])[]): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
}
