import { mayBeCut } from '../metrics/access-log.ts'
import { MAX_MISSING } from '../metrics/audit-log.ts'
import { OPERATIONS } from '../operations/all.ts'
import { auditedGroundOf, type AuditedRequest } from '../explain/audited-request.ts'
import type { LineDecider, LineDecision } from '../explain/line-decision.ts'
import { MAX_GROUNDS } from '../explain/permit-grounds.ts'
import { isMissingPermission, readAuditLines } from './audit-lines.ts'
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
  /** Lines that are not JSON: their requests are not known. */
  unreadable = 0
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

  /** Adds the lines of a file. @throws CommandError with the reason if it cannot be read */
  async read(file: string): Promise<void> {
    const { unreadable } = await readAuditLines(file, (line) => this.#add(line))
    this.unreadable += unreadable
  }

  /** Adds a line. Lines of events and of logins are left out, because a request has a line of its own. */
  #add(line: Readonly<Record<string, unknown>>): void {
    const { engine, decision, rule } = line
    if (typeof decision !== 'string' || (decision === 'permitted' && rule === 'login')) return
    if (typeof engine === 'string') this.engines.add(engine)
    if (engine !== this.#engine) return
    this.lines += 1
    const request = requestOf(line)
    if (request === null) this.unchanged += 1
    else
      this.#count(
        request,
        line,
        isDecidedByPolicy(line) ? this.#decider.decide(request) : { result: 'not by the old policy' },
      )
  }

  #count(request: AuditedRequest, line: Readonly<Record<string, unknown>>, decided: LineDecision): void {
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

/** Whether the policy permits the request of a line, by the decision in the line. */
const PERMITS: ReadonlyMap<unknown, boolean> = new Map([
  ['permitted', true],
  ['changed', true],
  ['refused', false],
  ['reported', false],
])

/** Returns the request of a line. Null if no policy decides it: a passthrough request, a request without an authenticated user, or an open operation. */
function requestOf(line: Readonly<Record<string, unknown>>): AuditedRequest | null {
  const { user, operation, decision, status } = line
  if (typeof user !== 'string' || user === '' || typeof operation !== 'string') return null
  if (hasReason(line, OPEN)) return null
  const params = textsIn(line['params'])
  const given: readonly unknown[] = Array.isArray(line['missing']) ? line['missing'] : []
  const missing = given.filter(isMissingPermission)
  const ids = [...Object.values(params), ...missing.map(({ resourceId }) => resourceId)]
  return {
    user,
    operation,
    params,
    decision: PERMITS.get(decision) === true ? 'permitted' : 'refused',
    isReported: decision === 'reported',
    authenticated: stringOf(line['authenticated']) ?? '',
    stage: stringOf(line['stage']),
    rule: stringOf(line['rule']),
    missing,
    isCut: given.length >= MAX_MISSING || missing.length < given.length || ids.some(isIncomplete),
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

/** Returns whether the audit log may have cut a value, or replaced invisible characters in it. */
function isIncomplete(value: unknown): boolean {
  return typeof value === 'string' && (mayBeCut(value) || value.includes('\uFFFD'))
}

/** Returns null if a line has no reasons, or if they may be incomplete. */
function groundsIn(value: unknown): AuditedRequest['permittedBy'] {
  if (!Array.isArray(value) || value.length >= MAX_GROUNDS) return null
  const grounds = value.filter(isCheckGround)
  const isCut = grounds.some(({ record }) => Object.values(record ?? {}).some(isIncomplete))
  return isCut ? null : grounds.map(auditedGroundOf)
}

/** Returns whether a value is the reason of one check, and not of a whole request or of its items. */
function isCheckGround(value: unknown): value is Parameters<typeof auditedGroundOf>[0] {
  return isRecord(value) && typeof value['by'] === 'string' && typeof value['check'] === 'number'
}

/** Returns whether a policy can have made the decision of a line. With two modes of `authorization`, no policy decides. */
function isDecidedByPolicy(line: Readonly<Record<string, unknown>>): boolean {
  return PERMITS.has(line['decision']) && !hasReason(line, NOT_BY_POLICY)
}

function hasReason(
  { permittedBy }: Readonly<Record<string, unknown>>,
  reasons: ReadonlySet<unknown>,
): boolean {
  return Array.isArray(permittedBy) && permittedBy.some((one) => isRecord(one) && reasons.has(one['by']))
}

const OPEN: ReadonlySet<unknown> = new Set(['open operation'])
const NOT_BY_POLICY: ReadonlySet<unknown> = new Set(['authorization off', 'engine'])
