import { OPERATIONS } from '../operations/all.ts'
import { auditedGroundOf, type AuditedRequest } from '../policy/authz/explain/audited-request.ts'
import type { LineDecider } from '../policy/authz/explain/line-decision.ts'
import { isMissingPermission } from './audit-lines.ts'
import { requestText } from './output.ts'
import { isRecord, stringOf } from '../request/value.ts'

/** Requests of one user for one operation that have the same result, with the first of them as an example. */
export interface RequestTally {
  readonly user: string
  readonly operation: string
  /** The decision of the lines, and of the new policy. Null if the new decision is not known. */
  readonly before: 'permitted' | 'refused'
  readonly after: 'permitted' | 'refused' | null
  /** Why the new decision is not known. */
  readonly reason: string | null
  times: number
  readonly example: {
    readonly request: string
    readonly requestId: string | null
    readonly time: string | null
  }
}

/** The largest number of different results. Further ones are only counted. */
const MAX_RESULTS = 10_000

/** Decides the requests of audit lines by a new policy, and counts the results. The memory does not grow with the number of lines. */
export class RequestChanges {
  readonly #decider: LineDecider
  readonly #engine: string
  readonly #tallies = {
    changed: new Map<string, RequestTally>(),
    undecidable: new Map<string, RequestTally>(),
  }
  /** The engines of all audit lines. */
  readonly engines = new Set<string>()
  lines = 0
  unchanged = 0
  changed = 0
  undecidable = 0
  /** Lines whose decision the old policy cannot have made. */
  notByOld = 0
  firstNotByOld: RequestTally['example'] | null = null

  constructor(decider: LineDecider, engine: string) {
    this.#decider = decider
    this.#engine = engine
  }

  get changes(): readonly RequestTally[] {
    return mostFrequentFirst(this.#tallies.changed)
  }

  get undecided(): readonly RequestTally[] {
    return mostFrequentFirst(this.#tallies.undecidable)
  }

  add(line: Readonly<Record<string, unknown>>): void {
    const { engine } = line
    if (typeof engine === 'string') this.engines.add(engine)
    if (engine !== this.#engine) return
    this.lines += 1
    const request = requestOf(line)
    if (request === null) {
      this.unchanged += 1
      return
    }
    this.#count(request, line)
  }

  #count(request: AuditedRequest, line: Readonly<Record<string, unknown>>): void {
    const decided = this.#decider.decide(request)
    if (decided.result === 'unchanged') this.unchanged += 1
    else if (decided.result === 'not by the old policy') {
      this.notByOld += 1
      this.firstNotByOld ??= exampleOf(request, line)
    } else {
      this[decided.result] += 1
      this.#tally(decided.result, { request, line, ...NOT_KNOWN, ...decided })
    }
  }

  #tally(
    kind: 'changed' | 'undecidable',
    {
      request,
      line,
      after,
      reason,
    }: Pick<RequestTally, 'after' | 'reason'> & {
      readonly request: AuditedRequest
      readonly line: Readonly<Record<string, unknown>>
    },
  ): void {
    const { user, operation, decision: before } = request
    const tallies = this.#tallies[kind]
    const key = JSON.stringify([user, operation, before, after, reason])
    const known = tallies.get(key)
    if (known !== undefined) known.times += 1
    else if (tallies.size < MAX_RESULTS)
      tallies.set(key, {
        user,
        operation,
        before,
        after,
        reason,
        times: 1,
        example: exampleOf(request, line),
      })
  }
}

const NOT_KNOWN = { after: null, reason: null } as const

function mostFrequentFirst(tallies: ReadonlyMap<string, RequestTally>): readonly RequestTally[] {
  return [...tallies.values()].toSorted((one, other) => other.times - one.times)
}

const OPERATIONS_BY_ID = new Map(OPERATIONS.map((operation) => [operation.id, operation]))

function exampleOf(
  { operation, params }: AuditedRequest,
  { requestId, time }: Readonly<Record<string, unknown>>,
): RequestTally['example'] {
  const found = OPERATIONS_BY_ID.get(operation)
  return {
    request: found === undefined ? operation : requestText(found, params),
    requestId: stringOf(requestId),
    time: stringOf(time),
  }
}

/** Returns the request of a line. Null if no policy decides it: a passthrough request, a request without an authenticated user, or an open operation. */
function requestOf(line: Readonly<Record<string, unknown>>): AuditedRequest | null {
  const { user, operation, decision, missing, status } = line
  if (typeof user !== 'string' || user === '' || typeof operation !== 'string') return null
  if (typeof decision !== 'string' || isUndecided(line['permittedBy'])) return null
  return {
    user,
    operation,
    params: textsIn(line['params']),
    decision: decision === 'refused' || decision === 'reported' ? 'refused' : 'permitted',
    isReported: decision === 'reported',
    authenticated: stringOf(line['authenticated']) ?? '',
    stage: stringOf(line['stage']),
    rule: stringOf(line['rule']),
    missing: Array.isArray(missing) ? missing.filter(isMissingPermission) : [],
    permittedBy: groundsIn(line['permittedBy']),
    isExecuted: typeof status === 'number' && status < 300,
  }
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

/** The number of reasons that a line names at most, and the smallest length of an id that it has cut. */
const MAX_GROUNDS = 20
const CUT_LENGTH = 255

/** Returns null if a line has no reasons, or if they may be incomplete. */
function groundsIn(value: unknown): AuditedRequest['permittedBy'] {
  if (!Array.isArray(value) || value.length >= MAX_GROUNDS) return null
  const grounds = value.filter(isCheckGround)
  const isCut = grounds.some(({ record }) => Object.values(record ?? {}).some(isCutText))
  return isCut ? null : grounds.map(auditedGroundOf)
}

function isCutText(value: unknown): boolean {
  return typeof value === 'string' && value.length >= CUT_LENGTH
}

/** Returns whether a value is the reason of one check, and not of a whole request or of its items. */
function isCheckGround(value: unknown): value is Parameters<typeof auditedGroundOf>[0] {
  return isRecord(value) && typeof value['by'] === 'string' && typeof value['check'] === 'number'
}

/** Returns whether the policy has not decided the request, because it is open or because another side decides. */
function isUndecided(value: unknown): boolean {
  return Array.isArray(value) && value.some((one) => isRecord(one) && NOT_BY_POLICY.has(one['by']))
}

const NOT_BY_POLICY: ReadonlySet<unknown> = new Set(['open operation', 'authorization off', 'engine'])
