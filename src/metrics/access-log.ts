/** The data of a request after its response. `null` and `''` for stages that it did not reach. */
export interface Access {
  readonly requestId: string
  /** The trace id of the request's span, or else of the caller's `traceparent`. */
  readonly traceId: string | null
  readonly operation: string | null
  readonly engine: string | null
  readonly method: string
  /** The configured prefix of a passthrough request. */
  readonly prefix: string | null
  /** The path of a passthrough request, and of a request that matches no operation, without the query, which may contain a secret. */
  readonly path: string | null
  readonly status: number
  readonly durationMs: number
  /** The address of the sender. */
  readonly client: string | null
  readonly user: string | null
  /** The user that a refused login or a password check named. The caller has not proved to be that user. */
  readonly attemptedUser: string | null
  readonly node: string | null
  /** The `Cache-Status` member, for operations that may be cached. */
  readonly cache: string | null
  /** The length of the body that was written to the client. */
  readonly bytes: number
  /** The `GW_…` code, or the reason of a refusal. */
  readonly error: string | null
}

/** The members for `JSON.stringify`. An empty member is undefined, so it is left out. */
export type AccessRecord = Readonly<Record<keyof Access, string | number | undefined>>

/** Maximum length of a value. Longer values come from the caller, for example as a user name or a method. */
const MAX_CHARS = 256

/** Returns the members of an access line. They are always in the same order, which halves the cost of the line. */
export function accessRecordOf(access: Access): AccessRecord {
  return {
    requestId: bounded(access.requestId),
    traceId: access.traceId ?? undefined,
    operation: bounded(access.operation),
    engine: bounded(access.engine),
    method: bounded(access.method),
    prefix: bounded(access.prefix),
    path: bounded(access.path),
    status: access.status,
    durationMs: roundedMs(access.durationMs),
    client: bounded(access.client),
    user: bounded(access.user),
    attemptedUser: bounded(access.attemptedUser),
    node: bounded(access.node),
    cache: bounded(access.cache),
    bytes: access.bytes,
    error: bounded(access.error),
  }
}

/** The scheme and the authority of a target in absolute form. The authority may contain a password. */
const AUTHORITY = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i
/** Matrix parameters of a segment: `;jsessionid=…` names a session. */
const MATRIX_PARAMETERS = /;[^/]*/g
/** Every character that is not visible ASCII. Node reads each byte of a target as one character. */
const INVISIBLE = /[^!-~]/g
/** Maximum length in an access line. An escape triples the length of a character. */
const MAX_TARGET_CHARS = 1024

/** Returns the path of any target as an access line may show it: without authority, query and matrix parameters, in visible ASCII. */
export function shownPathOf(target: string): string {
  const [path = ''] = target.slice(0, MAX_TARGET_CHARS).replace(AUTHORITY, '').split(/[?#]/, 1)
  return path
    .replace(MATRIX_PARAMETERS, ';…')
    .replace(INVISIBLE, (character) => (character === '…' ? character : escapeOf(character)))
}

function escapeOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** Rounds to whole microseconds. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

export function bounded(value: string | null): string | undefined {
  if (value === null || value === '') return undefined
  if (value.length <= MAX_CHARS) return value
  // Do not cut between the two halves of a surrogate pair.
  return `${value.slice(0, MAX_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns whether a value in a line may be the beginning of a longer one. */
export function mayBeCut(value: string): boolean {
  return value.length >= MAX_CHARS - 1
}
