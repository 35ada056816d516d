import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import { type ResponseComparison, compareResponses, type ResponseDifference } from './compare-responses.ts'
import { MAX_DIFFERENCES, memberOf, type ReportedDifference } from './comparison-report.ts'

/** Sends a request to a node of one group only. */
export type AskGroup = (upstreamRequest: UpstreamRequest, limitBytes: number) => Promise<BufferedResponse>

export interface ConfirmOptions {
  /** Asks the group that serves clients, and the group that is compared with it. */
  readonly left: AskGroup
  readonly right: AskGroup
  /** Waits for this number of milliseconds. */
  readonly pause: (ms: number) => Promise<void>
  /** Returns the milliseconds since 1970. */
  readonly wallMs: () => number
}

/**
 * `changed`: the data changed meanwhile, so nothing can be said. A difference that is not confirmed was found once, and the next time
 * the right group gave the same response.
 */
export type ConfirmedComparison =
  | Exclude<ResponseComparison, { readonly result: 'different' }>
  | 'changed'
  | { readonly result: 'different'; readonly difference: ReportedDifference }

/** Comparing two responses of this length takes up to 15 ms, in which no other request is handled. */
const MAX_RESPONSE_BYTES = 256 * 1024
const TIMEOUT_MS = 10_000
/** The number of further requests to the left group that show whether its response changes, and the pause between them. */
const STABLE_ROUNDS = 10
const STABLE_PAUSE_MS = 100
/** How long a confirmed difference shows that further ones at its place are no changes of data. */
const CONFIRMED_MS = 600_000

interface ComparisonRound {
  readonly compared: ResponseComparison | 'changed'
  /** The first response of the left group. */
  readonly before: BufferedResponse
}

/** Compares the responses of two groups to a request, and sends it again to tell a difference from data that changes. */
export class DifferenceCheck {
  readonly #options: ConfirmOptions
  /** The members that differed, by operation and member. The last one is last. */
  readonly #found = new Map<string, ReportedDifference>()

  constructor(options: ConfirmOptions) {
    this.#options = options
  }

  /** The members that differed since the comparison began. */
  get found(): readonly ReportedDifference[] {
    return [...this.#found.values()]
  }

  /**
   * Compares the responses twice if they differ. In each round, the left group must give the same response before and after the right
   * one, and it must not change for a second after that: a count that changes and changes back between two requests would look like a
   * difference, also twice in a row. A difference of one round only is confirmed if the same member has differed before, also in the
   * responses to another operation.
   *
   * A place at which a difference was confirmed in the last ten minutes needs no such second, so that a difference of many responses
   * does not prevent other comparisons.
   */
  async compare(upstreamRequest: UpstreamRequest): Promise<ConfirmedComparison> {
    const asked = { ...upstreamRequest, headersMs: TIMEOUT_MS, isShareable: undefined }
    const { compared, before } = await this.#round(asked)
    if (compared === 'changed' || compared.result !== 'different') return compared
    const { difference } = compared
    const second = await this.#round(asked)
    if (second.compared === 'changed' || compareResponses(before, second.before).result !== 'equal')
      return 'changed'
    const isTwice = second.compared.result === 'different'
    if (isTwice && this.#isConfirmedAt(asked, difference)) return this.#remember(asked, difference, true)
    if (!(await this.#isStable(asked, before))) return 'changed'
    return this.#remember(asked, difference, isTwice || this.#hasDiffered(asked, difference))
  }

  async #round(asked: UpstreamRequest): Promise<ComparisonRound> {
    const { left, right } = this.#options
    const before = await left(asked, MAX_RESPONSE_BYTES)
    const other = await right(asked, MAX_RESPONSE_BYTES)
    const compared = compareResponses(before, other)
    if (compared.result !== 'different') return { compared, before }
    const after = await left(asked, MAX_RESPONSE_BYTES)
    return { compared: compareResponses(before, after).result === 'equal' ? compared : 'changed', before }
  }

  /** Returns whether the left group continues to give the same response for a second. */
  async #isStable(asked: UpstreamRequest, before: BufferedResponse): Promise<boolean> {
    const { left, pause } = this.#options
    for (let round = 0; round < STABLE_ROUNDS; round += 1) {
      await pause(STABLE_PAUSE_MS)
      const after = await left(asked, MAX_RESPONSE_BYTES)
      if (compareResponses(before, after).result !== 'equal') return false
    }
    return true
  }

  #isConfirmedAt(asked: UpstreamRequest, difference: ResponseDifference): boolean {
    const found = this.#found.get(keyOf(asked, difference))
    return found !== undefined && found.isConfirmed && this.#options.wallMs() - found.atMs < CONFIRMED_MS
  }

  #hasDiffered(asked: UpstreamRequest, difference: ResponseDifference): boolean {
    if (this.#found.has(keyOf(asked, difference))) return true
    const { place } = difference
    const member = memberOf(place)
    // A status or a number of items says nothing about other operations.
    const isNamed = place.startsWith('/') && member !== ''
    return (
      isNamed && this.found.some((found) => found.place.startsWith('/') && memberOf(found.place) === member)
    )
  }

  #remember(asked: UpstreamRequest, found: ResponseDifference, isConfirmed: boolean): ConfirmedComparison {
    const key = keyOf(asked, found)
    const times = (this.#found.get(key)?.times ?? 0) + 1
    const { operation = '' } = asked
    const difference = { ...found, operation, times, isConfirmed, atMs: this.#options.wallMs() }
    this.#found.delete(key)
    this.#found.set(key, difference)
    const [oldest] = this.#found.keys()
    if (this.#found.size > MAX_DIFFERENCES && oldest !== undefined) this.#found.delete(oldest)
    return { result: 'different', difference }
  }
}

/** Returns a key for the operation and the member. */
function keyOf({ operation = '' }: UpstreamRequest, { place }: ResponseDifference): string {
  return `${operation} ${memberOf(place)}`
}
