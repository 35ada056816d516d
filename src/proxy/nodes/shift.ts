import {
  type GroupAttempt,
  GroupComparison,
  RETURN_REASONS,
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
  /** The state of the same shift under the previous configuration. Null: it begins with `reads` and `writes`. */
  readonly state?: ShiftState | null
  /** Called when all requests return to the other group because a limit was passed. */
  readonly onReturn: (reason: ReturnReason, state: ShiftState) => void
}

/** The part of a shift that changes while it runs. */
export interface ShiftState {
  readonly shares: ShiftShares
  readonly returned: ReturnReason | null
  /**
   * When the shares changed last, in milliseconds since 1970, and later than all changes that this process knew. 0: they have not changed
   * since the configuration was loaded.
   */
  readonly changedAtMs: number
  /** The time of the latest change that the process knew before it changed the shares. 0: it knew none. */
  readonly knownMs: number
}

export interface ShiftContext {
  /** Returns a number from 0 to 1, excluding 1. */
  readonly random: () => number
  readonly now: () => number
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly wallNow?: () => number
}

const NOTHING: ShiftShares = { reads: 0, writes: 0 }

/** Distributes the requests of an engine between two groups of nodes. */
export class Shift {
  readonly to: string
  readonly from: string
  readonly #operations: ReadonlySet<string> | null
  readonly #callers: ReadonlySet<string> | null
  readonly #random: () => number
  readonly #wallNow: () => number
  readonly #comparison: GroupComparison
  readonly #onReturn: ShiftOptions['onReturn']
  #state: ShiftState
  /** The time of the latest change that this process knows, also of one that another change has replaced. */
  #latestMs: number
  #listener: () => void = () => undefined

  constructor(options: ShiftOptions, { random, now, wallNow = Date.now }: ShiftContext) {
    const { to, from, reads, writes, operations, callers, limits, state, onReturn } = options
    this.to = to
    this.from = from
    this.#operations = operations === null ? null : new Set(operations)
    this.#callers = callers === null ? null : new Set(callers)
    this.#state = state ?? { shares: { reads, writes }, returned: null, changedAtMs: 0, knownMs: 0 }
    this.#latestMs = Math.max(this.#state.changedAtMs, this.#state.knownMs)
    this.#random = random
    this.#wallNow = wallNow
    this.#comparison = new GroupComparison(limits, now)
    this.#onReturn = onReturn
  }

  get shares(): ShiftShares {
    return this.#state.shares
  }

  /** The reason for which all requests have returned to the other group, or null. */
  get returned(): ReturnReason | null {
    return this.#state.returned
  }

  get state(): ShiftState {
    return this.#state
  }

  /** Calls the listener after each change of the state by a command, a return or another process. */
  listen(listener: () => void): void {
    this.#listener = listener
  }

  /** Applies from the next request on. Requests that wait for a node keep their group. */
  change(shares: ShiftShares): void {
    this.#apply(this.#nextState(shares, null))
  }

  /** Applies the state of a process with the same settings, unless this process has a later one. Returns whether the state changes. */
  adopt(state: ShiftState): boolean {
    this.#latestMs = Math.max(this.#latestMs, state.changedAtMs)
    if (!isLater(state, this.#state)) return false
    this.#apply(state)
    return true
  }

  /**
   * Applies the state of a process with other settings for the same group, if the group gets no requests any more. A state that was known
   * when the current shares began has no effect. Returns whether the state changes.
   */
  adoptZero(state: ShiftState): boolean {
    return isZero(state.shares) && state.changedAtMs > this.#state.knownMs && this.adopt(state)
  }

  /** Makes the shares of the configuration later than a change of another process. They then replace it at all processes with the same settings. */
  keepAfter(changedAtMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, changedAtMs)
    this.#state = this.#nextState(this.#state.shares, this.#state.returned)
  }

  /** Begins with the shares of the configuration although another process has changed the shares under other settings. */
  beginAfter(changedAtMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, changedAtMs)
    this.#state = { ...this.#state, knownMs: this.#latestMs }
  }

  #apply(state: ShiftState): void {
    this.#state = state
    this.#comparison.clear()
    this.#listener()
  }

  /** Returns a change at the current time, or at a later one if the clock of another process is ahead. */
  #nextState(shares: ShiftShares, returned: ReturnReason | null): ShiftState {
    const knownMs = this.#latestMs
    this.#latestMs = Math.max(this.#wallNow(), knownMs + 1)
    return { shares, returned, changedAtMs: this.#latestMs, knownMs }
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

  #returnFor(reason: ReturnReason | null): void {
    if (reason === null || this.returned !== null) return
    this.#state = this.#nextState(NOTHING, reason)
    this.#onReturn(reason, this.#state)
    this.#listener()
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

/**
 * Returns whether a state replaces another one of the same settings. A change replaces those that its process knew. If two processes
 * changed the shares without knowledge of each other, their clocks do not show the order reliably: shares of zero then win, because they
 * lead requests away from a group that may be broken. Otherwise the later time wins, and then the other members decide: if
 * neither of two different states replaced the other, a process that reads both would apply them in turn without end.
 */
export function isLater(one: ShiftState, other: ShiftState): boolean {
  if (one.changedAtMs > 0 && other.changedAtMs > 0) {
    if (one.knownMs >= other.changedAtMs) return true
    if (other.knownMs >= one.changedAtMs) return false
    const [isOneZero, isOtherZero] = [isZero(one.shares), isZero(other.shares)]
    if (isOneZero !== isOtherZero) return isOneZero
  }
  const right = orderOf(other)
  const differences = orderOf(one).map((value, at) => value - (right[at] ?? 0))
  return (differences.find((difference) => difference !== 0) ?? 0) > 0
}

/** Returns numbers that differ if the states differ. The first ones are the times. */
function orderOf({ changedAtMs, knownMs, shares, returned }: ShiftState): readonly number[] {
  const reason = returned === null ? -1 : RETURN_REASONS.indexOf(returned)
  return [changedAtMs, knownMs, shares.reads, shares.writes, reason]
}

/**
 * The id or the key in paths such as `/task/{id}`, `/history/process-instance/{id}` and `/process-definition/key/{key}`. An id has a
 * digit, unlike the words in paths such as `/task/count`.
 */
const ENTITY = /^\/(?:history\/)?[a-z-]+\/(key\/[^/?]+|[^/?]*\d[^/?]*)/

/** The FNV-1a hash of a text, with the last steps of MurmurHash3 so that similar texts have different results. From 0 to 1, excluding 1. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}
