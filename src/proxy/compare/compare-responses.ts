import type { BufferedResponse } from '../../request/buffered-response.ts'
import { isRecord } from '../../request/value.ts'
import { KNOWN_DIFFERENCES, mapValues } from './known-differences.ts'

export interface ResponseDifference {
  /** The place of the first difference: `status`, the name of a header, `body`, or a member of the body such as `/0/name`. */
  readonly place: string
  /** Short descriptions of what both responses have at this place, without any text of the responses. */
  readonly left: string
  readonly right: string
}

export type ResponseComparison =
  | { readonly result: 'equal' }
  | { readonly result: 'known'; readonly kind: string }
  | { readonly result: 'different'; readonly difference: ResponseDifference }

const HEADERS = ['content-type', 'content-disposition', 'cache-control'] as const
const EQUAL: ResponseComparison = { result: 'equal' }
/** Deeper documents are compared as bytes. */
const MAX_DEPTH = 200

/**
 * Compares two responses to the same request: status, content type, `Content-Disposition`, `Cache-Control`, and the JSON value with
 * members in any order. Other bodies are compared as bytes.
 */
export function compareResponses(left: BufferedResponse, right: BufferedResponse): ResponseComparison {
  if (left.status !== right.status) return differentAt('status', `${left.status}`, `${right.status}`)
  const header = HEADERS.find((name) => headerOf(left, name) !== headerOf(right, name))
  if (header !== undefined) return differentAt(header, shownHeader(left, header), shownHeader(right, header))
  if (left.body.equals(right.body)) return EQUAL
  const [one, other] = [jsonOf(left), jsonOf(right)]
  if (one === NOT_JSON || other === NOT_JSON) return differentAt('body', shapeOf(one), shapeOf(other))
  return differenceOf(one, other, '') === null ? EQUAL : knownOrDifferent(left.status, one, other)
}

/** Two errors for an unreadable body have different messages, also after a restart of the same engine. */
const ERROR_TEXT = 'error-text'

function knownOrDifferent(status: number, left: unknown, right: unknown): ResponseComparison {
  for (const { kind, unify } of KNOWN_DIFFERENCES)
    if (differenceOf(mapValues(left, unify), mapValues(right, unify), '') === null)
      return { result: 'known', kind }
  const [one, other] = [mapValues(left, unifyAll), mapValues(right, unifyAll)]
  const remaining = differenceOf(one, other, '')
  if (remaining === null) return { result: 'known', kind: 'several' }
  if (status === 400 && differenceOf(withoutMessage(one), withoutMessage(other), '') === null)
    return { result: 'known', kind: ERROR_TEXT }
  return { result: 'different', difference: remaining }
}

function unifyAll(value: unknown): unknown {
  return KNOWN_DIFFERENCES.reduce((changed, { unify }) => unify(changed), value)
}

function withoutMessage(error: unknown): unknown {
  if (!isRecord(error) || Array.isArray(error)) return error
  const { message: _, ...rest } = error
  return rest
}

/** Returns the first difference of two JSON values, or null if they are equal. Members may be in any order. */
function differenceOf(left: unknown, right: unknown, place: string): ResponseDifference | null {
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length)
      return { place, left: `${left.length} items`, right: `${right.length} items` }
    return firstOf(left.keys(), (at) => differenceOf(left[at], right[at], `${place}/${at}`))
  }
  if (isRecord(left) && isRecord(right) && !Array.isArray(left) && !Array.isArray(right)) {
    const names = new Set([...Object.keys(left), ...Object.keys(right)])
    return firstOf(names, (name) => differenceOfMember(left, right, `${place}/${name}`, name))
  }
  return Object.is(left, right) ? null : { place, left: shapeOf(left), right: shapeOf(right) }
}

function differenceOfMember(
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  place: string,
  name: string,
): ResponseDifference | null {
  const [hasLeft, hasRight] = [Object.hasOwn(left, name), Object.hasOwn(right, name)]
  if (hasLeft && hasRight) return differenceOf(left[name], right[name], place)
  return {
    place,
    left: hasLeft ? shapeOf(left[name]) : 'missing',
    right: hasRight ? shapeOf(right[name]) : 'missing',
  }
}

function firstOf<T>(
  keys: Iterable<T>,
  find: (key: T) => ResponseDifference | null,
): ResponseDifference | null {
  for (const key of keys) {
    const found = find(key)
    if (found !== null) return found
  }
  return null
}

const NOT_JSON = Symbol('not JSON')

function jsonOf({ headers, body }: BufferedResponse): unknown {
  if (!/^application\/(?:hal\+)?json\b/i.test(String(headers['content-type'] ?? ''))) return NOT_JSON
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return depthOf(value, MAX_DEPTH) === 0 ? NOT_JSON : value
  } catch {
    return NOT_JSON
  }
}

/** Returns how many levels are left, or 0 if the value is too deep. */
function depthOf(value: unknown, left: number): number {
  if (left === 0 || typeof value !== 'object' || value === null) return left
  return Object.values(value).reduce<number>(
    (least, member) => Math.min(least, depthOf(member, left - 1)),
    left,
  )
}

/** Describes a value without its text, which may be personal data. */
function shapeOf(value: unknown): string {
  if (value === NOT_JSON) return 'other bytes'
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return `text of ${value.length} characters`
  if (Array.isArray(value)) return `${value.length} items`
  return typeof value === 'object' ? `object with ${Object.keys(value).length} members` : typeof value
}

function differentAt(place: string, left: string, right: string): ResponseComparison {
  return { result: 'different', difference: { place, left, right } }
}

/** `Content-Disposition` is not shown, because the name of a file may be personal data. */
function shownHeader(response: BufferedResponse, name: (typeof HEADERS)[number]): string {
  const value = headerOf(response, name)
  return name === 'content-disposition' ? shapeOf(value) : value
}

function headerOf({ headers }: BufferedResponse, name: string): string {
  return String(headers[name] ?? '')
    .toLowerCase()
    .replaceAll(/;\s+/g, ';')
}
