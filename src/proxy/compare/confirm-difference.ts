import type { BufferedResponse } from '../../request/buffered-response.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import { type ResponseComparison, compareResponses, type ResponseDifference } from './compare-responses.ts'

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
 * `changed`: the data changed meanwhile, so nothing can be said. `unconfirmed`: the right group gave another response once, and the
 * next time the same response.
 */
export type ConfirmedComparison = ResponseComparison | 'changed' | 'unconfirmed'

/** Comparing two responses of this length takes up to 15 ms, in which no other request is handled. */
const MAX_RESPONSE_BYTES = 256 * 1024
const TIMEOUT_MS = 10_000
/** The number of further requests to the left group that show whether its response changes, and the pause between them. */
const STABLE_ROUNDS = 10
const STABLE_PAUSE_MS = 100
/** How long a difference is remembered. */
const REMEMBERED_MS = 600_000
const MAX_REMEMBERED = 100

interface FoundDifference {
  readonly atMs: number
  readonly isConfirmed: boolean
}

interface ComparisonRound {
  readonly compared: ResponseComparison | 'changed'
  /** The first response of the left group. */
  readonly before: BufferedResponse
}

/** Compares the responses of two groups to a request, and sends it again to tell a difference from data that changes. */
export class DifferenceCheck {
  readonly #options: ConfirmOptions
  /** The last differences, by operation and place. */
  readonly #found = new Map<string, FoundDifference>()

  constructor(options: ConfirmOptions) {
    this.#options = options
  }

  /**
   * Compares the responses twice if they differ. In each round, the left group must give the same response before and after the right
   * one, and it must not change for a second after that: a count that changes and changes back between two requests would look like a
   * difference, also twice in a row. A difference of one round only counts if it was found at the same place in the last ten minutes.
   *
   * A place at which a difference was confirmed in the last ten minutes needs no such second, so that a difference of many responses
   * does not prevent other comparisons.
   */
  async compare(upstreamRequest: UpstreamRequest): Promise<ConfirmedComparison> {
    const asked = { ...upstreamRequest, headersMs: TIMEOUT_MS, isShareable: undefined }
    const { compared, before } = await this.#round(asked)
    if (compared === 'changed' || compared.result !== 'different') return compared
    const key = keyOf(asked, compared.difference)
    const second = await this.#round(asked)
    if (second.compared === 'changed' || compareResponses(before, second.before).result !== 'equal')
      return 'changed'
    const isTwice = second.compared.result === 'different'
    const known = this.#recent(key)
    if (isTwice && known?.isConfirmed === true) return this.#remember(key, true, compared)
    if (!(await this.#isStable(asked, before))) return 'changed'
    if (isTwice || known !== null) return this.#remember(key, true, compared)
    return this.#remember(key, false, 'unconfirmed')
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

  #recent(key: string): FoundDifference | null {
    const found = this.#found.get(key)
    return found !== undefined && this.#options.wallMs() - found.atMs < REMEMBERED_MS ? found : null
  }

  #remember<T extends ConfirmedComparison>(key: string, isConfirmed: boolean, result: T): T {
    this.#found.delete(key)
    this.#found.set(key, { atMs: this.#options.wallMs(), isConfirmed })
    const [oldest] = this.#found.keys()
    if (this.#found.size > MAX_REMEMBERED && oldest !== undefined) this.#found.delete(oldest)
    return result
  }
}

/** Returns a key for the operation and the place. All items of a list have the same place. */
function keyOf({ operation = '' }: UpstreamRequest, { place }: ResponseDifference): string {
  return `${operation} ${place.replaceAll(/\/\d+(?=\/|$)/g, '/*')}`
}
