import { hash } from 'node:crypto'
import {
  type GroupAttempt,
  GroupComparison,
  type GroupMemory,
  type ReturnFinding,
  type ReturnLimits,
  type ReturnReason,
} from './group-comparison.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'

/** The shares of the requests that a group of nodes gets, from 0 to 1. */
export interface ShiftShares {
  readonly reads: number
  /** Long polls have the same share, because the writes create their tasks. */
  readonly writes: number
}

export interface ShiftOptions extends ShiftShares {
  /** The group to which requests are shifted. */
  readonly to: string
  /** The other group. */
  readonly from: string
  /** The ids of the operations that are shifted, or null for all operations. */
  readonly operations: readonly string[] | null
  /** The ids of the users whose requests are shifted, or null for all users. */
  readonly callers: readonly string[] | null
  /** Limits after which all requests return to the other group. Null: they never return automatically. */
  readonly limits: ReturnLimits | null
  /** The shift of the engine under the previous configuration. Changed shares of the same groups continue. Default: none. */
  readonly former?: Shift | null
  /** Called when all requests return to the other group because a limit was passed. */
  readonly onReturn: (finding: ReturnFinding, state: ShiftState) => void
}

/** The part of a shift that changes while it runs. */
export interface ShiftState {
  readonly shares: ShiftShares
  readonly returned: ReturnReason | null
  /**
   * The number of this change. Each command and each return raises it by one, and all processes follow the highest one. 0: the shares of
   * the configuration.
   */
  readonly revision: number
}

/** The last change of a shift, as processes tell it to each other. */
export interface ShiftChange {
  readonly to: string
  readonly from: string
  /** Identifies the operations and callers whose requests are shifted. */
  readonly scope: string
  readonly state: ShiftState
}

export interface ShiftContext {
  /** Returns a number from 0 to 1, excluding 1. */
  readonly random: () => number
  readonly now: () => number
}

/** A group without a usable node gets its requests back after this time and as many requests that another group has served. */
const DOWN = { ms: 500, requests: 5 } as const

/** Since when the group `to` has no usable node, and the number of requests since then. */
interface Outage {
  readonly sinceMs: number
  rerouted: number
}

const NOTHING: ShiftShares = { reads: 0, writes: 0 }

/** Distributes the requests of an engine between two groups of nodes. */
export class Shift {
  readonly to: string
  readonly from: string
  readonly #scope: string
  readonly #operations: ReadonlySet<string> | null
  readonly #callers: ReadonlySet<string> | null
  readonly #random: () => number
  readonly #now: () => number
  readonly #limits: ReturnLimits | null
  readonly #comparison: GroupComparison
  readonly #onReturn: ShiftOptions['onReturn']
  /** Whether this process has made the last change, and the other processes cannot know it yet. */
  isUnstored = false
  #state: ShiftState
  readonly #listeners: (() => void)[] = []
  #finding: ReturnFinding | null = null
  /** Whether a node of the group `to` was usable since the shares changed. A group that was down before cannot fail. */
  #wasUsable = false
  #outage: Outage | null = null

  constructor(options: ShiftOptions, { random, now }: ShiftContext) {
    const { to, from, reads, writes, operations, callers, limits, former = null, onReturn } = options
    this.to = to
    this.from = from
    this.#scope = hash('sha256', JSON.stringify([operations, callers]), 'base64url')
    this.#operations = operations === null ? null : new Set(operations)
    this.#callers = callers === null ? null : new Set(callers)
    this.#state = { shares: { reads, writes }, returned: null, revision: 0 }
    this.#random = random
    this.#now = now
    this.#limits = limits
    this.#comparison = new GroupComparison(limits, now, former?.from === from ? former.memory : undefined)
    this.#onReturn = onReturn
    if (former !== null) this.takeOver(former)
  }

  get shares(): ShiftShares {
    return this.#state.shares
  }

  /** The reason for which all requests have returned to the other group, or null. */
  get returned(): ReturnReason | null {
    return this.#state.returned
  }

  /** What this process has found before it returned all requests. Null if they have not returned, or another process has returned them. */
  get finding(): ReturnFinding | null {
    return this.returned === null ? null : this.#finding
  }

  get memory(): GroupMemory {
    return this.#comparison.memory
  }

  get state(): ShiftState {
    return this.#state
  }

  /** Also calls this listener after each change of the shares by a command, a return or another process. */
  listen(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Applies another state, from the next request on. Requests that wait for a node keep their group. */
  apply(state: ShiftState): void {
    const isChanged = !hasSameShares(state, this.#state)
    this.isUnstored &&= state.revision === this.#state.revision
    this.#state = state
    if (!isChanged) return
    this.#finding = null
    this.#wasUsable = false
    this.#outage = null
    this.#comparison.clear()
    this.#tell()
  }

  /** The last change, for other processes. */
  get lastChange(): ShiftChange {
    return { to: this.to, from: this.from, scope: this.#scope, state: this.#state }
  }

  /**
   * Returns whether a change concerns this shift: the groups are the same, and so are the operations and callers. A share that was set for
   * some callers must not apply to all of them. Shares of zero concern every shift of the same groups, because the group may be broken.
   */
  isConcerned({ to, from, scope, state }: ShiftChange): boolean {
    return to === this.to && from === this.from && (scope === this.#scope || isZero(state.shares))
  }

  /** Applies a change that another process of this gateway knows, if it replaces the state of this process. */
  follow(change: ShiftChange): void {
    if (this.isConcerned(change) && replaces(change.state, this.#state)) this.apply(change.state)
  }

  /** Continues with the last change under the previous configuration. */
  takeOver(former: Shift): void {
    this.follow(former.lastChange)
    this.isUnstored = former.isUnstored && this.#state === former.state
  }

  /** Counts an attempt at a node of one of the groups. Returns all requests to the other group if the attempt passes a limit. */
  record(group: string | null, attempt: GroupAttempt): void {
    if (group !== this.to && group !== this.from) return
    this.#returnFor(this.#comparison.record(group === this.to ? 'to' : 'from', attempt))
  }

  /**
   * Counts a confirmed difference between the responses of both groups. Returns all requests to the other group if it passes a limit.
   * Without a share there is nothing to return, and a new share begins to count again.
   */
  recordDifference(): void {
    if (!isZero(this.shares)) this.#returnFor(this.#comparison.recordDifference())
  }

  /**
   * Call it for each request of the group `to`. `isUsable`: whether a node of the group can be used. If not, another group serves the
   * request, and the group has no failure that could be counted. A group that stays without a node therefore returns its requests here.
   */
  recordUsable(isUsable: boolean): void {
    if (isUsable) {
      this.#wasUsable = true
      this.#outage = null
      return
    }
    if (!this.#wasUsable || this.#limits === null) return
    this.#outage ??= { sinceMs: this.#now(), rerouted: 0 }
    this.#outage.rerouted += 1
    const { sinceMs, rerouted } = this.#outage
    const elapsedMs = Math.round(this.#now() - sinceMs)
    if (elapsedMs >= DOWN.ms && rerouted >= DOWN.requests)
      this.#returnFor({ reason: 'down', rerouted, sinceMs: elapsedMs })
  }

  #returnFor(finding: ReturnFinding | null): void {
    if (finding === null || this.returned !== null) return
    this.#state = { shares: NOTHING, returned: finding.reason, revision: this.#state.revision + 1 }
    this.isUnstored = true
    this.#finding = finding
    this.#onReturn(finding, this.#state)
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  /** Returns the group for a request. All reads of one entity have the same group as long as the shares do not change, and so do its writes. */
  groupOf({ path, operation, user, retry }: UpstreamRequest): string {
    const share = retry === 'always' ? this.shares.reads : this.shares.writes
    if (share === 0 || !this.#isShifted(operation, user)) return this.from
    if (share === 1) return this.to
    return this.#positionOf(path) < share ? this.to : this.from
  }

  /** The gateway's own requests have neither an operation nor a user. They belong to the group of all other requests. */
  #isShifted(operation: string | undefined, user: string | undefined): boolean {
    if (this.#operations !== null && (operation === undefined || !this.#operations.has(operation)))
      return false
    return this.#callers === null || (user !== undefined && this.#callers.has(user))
  }

  /** Returns a number from 0 to 1, excluding 1: a hash of the entity that the path names, or a random number if it names none. */
  #positionOf(path: string): number {
    const entity = ENTITY.exec(path)?.[1]
    return entity === undefined ? this.#random() : hashOf(entity)
  }
}

export function isZero({ reads, writes }: ShiftShares): boolean {
  return reads === 0 && writes === 0
}

/** Returns whether two states have the same effect. They may have different revisions. */
export function hasSameShares(one: ShiftState, other: ShiftState): boolean {
  const { reads, writes } = other.shares
  return one.shares.reads === reads && one.shares.writes === writes && one.returned === other.returned
}

/**
 * Returns whether a state replaces another one. The higher revision does. If two processes that did not know of each other made changes
 * with the same revision, shares of zero do, because they lead requests away from a group that may be broken.
 */
export function replaces(one: ShiftState, other: ShiftState): boolean {
  if (one.revision !== other.revision) return one.revision > other.revision
  return isZero(one.shares) && !isZero(other.shares)
}

/**
 * The id or the key in paths such as `/task/{id}`, `/history/process-instance/{id}` and `/process-definition/key/{key}`. An id has a
 * digit, unlike the words in paths such as `/task/count`.
 */
const ENTITY = /^\/(?:history\/)?[a-z-]+\/(key\/[^/?]+|[^/?]*\d[^/?]*)/

/** The FNV-1a hash of a text, with the last steps of MurmurHash3 so that similar texts have different results. From 0 to 1, excluding 1. */
function hashOf(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return ((sum ^ (sum >>> 16)) >>> 0) / 2 ** 32
}
