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
/** How long an unconfirmed difference counts. */
const UNCONFIRMED_MS = 600_000
const MAX_UNCONFIRMED = 100

interface ComparisonRound {
  readonly compared: ResponseComparison | 'changed'
  /** The first response of the left group. */
  readonly before: BufferedResponse
}

/** Compares the responses of two groups to a request, and sends it again to tell a difference from data that changes. */
export class DifferenceCheck {
  readonly #options: ConfirmOptions
  /** When an unconfirmed difference was found, by operation and place. */
  readonly #unconfirmed = new Map<string, number>()

  constructor(options: ConfirmOptions) {
    this.#options = options
  }

  /**
   * A difference counts if it is found twice in a row, and the left group gives the same response before and after the right one. A
   * difference that is found once counts if the response of the left group does not change for a second, and if another difference
   * at the same place was found in the same way in the last ten minutes. Without the second condition, data that changes and changes
   * back between two requests would look like a difference.
   */
  async compare(upstreamRequest: UpstreamRequest): Promise<ConfirmedComparison> {
    const asked = { ...upstreamRequest, headersMs: TIMEOUT_MS, isShareable: undefined }
    const { compared, before } = await this.#round(asked)
    if (compared === 'changed' || compared.result !== 'different') return compared
    const second = (await this.#round(asked)).compared
    if (second === 'changed' || second.result === 'different') return second
    if (!(await this.#isStable(asked, before))) return 'changed'
    return this.#isFoundAgain(asked.operation ?? '', compared.difference) ? compared : 'unconfirmed'
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

  #isFoundAgain(operation: string, { place }: ResponseDifference): boolean {
    const key = `${operation} ${place.replaceAll(/\/\d+(?=\/|$)/g, '/*')}`
    const [nowMs, foundMs] = [this.#options.wallMs(), this.#unconfirmed.get(key)]
    this.#unconfirmed.delete(key)
    this.#unconfirmed.set(key, nowMs)
    const [oldest] = this.#unconfirmed.keys()
    if (this.#unconfirmed.size > MAX_UNCONFIRMED && oldest !== undefined) this.#unconfirmed.delete(oldest)
    return foundMs !== undefined && nowMs - foundMs < UNCONFIRMED_MS
  }
}
