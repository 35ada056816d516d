import { setImmediate as nextTurn } from 'node:timers/promises'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import type { ComparisonReport, ReportedDifference } from './comparison-report.ts'
import { type ConfirmOptions, DifferenceCheck } from './confirm-difference.ts'

/**
 * The result of one comparison. `changed`: the data changed meanwhile, so nothing can be said. `unconfirmed`: the responses differed
 * once. `unanswered`: a group sent no complete response in time, or a too long one. `dropped`: too many requests were waiting to be
 * compared.
 */
export type ComparedResult =
  | 'equal'
  | 'known'
  | 'different'
  | 'changed'
  | 'unconfirmed'
  | 'unanswered'
  | 'dropped'

export interface ComparerOptions extends ConfirmOptions {
  /** The share of the reads that is compared, from 0 to 1. */
  readonly rate: number
  /** Returns whether the responses to an operation can be compared. */
  readonly isCompared: (operation: string) => boolean
  /** Returns true if the process is overloaded. Nothing is compared then. */
  readonly isOverloaded: () => boolean
  readonly onResult: (result: ComparedResult, operation: string, kind: string) => void
  /** Called for each difference, also for one that is not confirmed. */
  readonly onDifference: (difference: ReportedDifference) => void
  /** Returns a number from 0 to 1, excluding 1. */
  readonly random: () => number
}

const MAX_WAITING = 32
const MAX_REQUEST_BYTES = 64 * 1024

/**
 * Compares the responses of two groups of nodes to a share of the reads. It sends requests of its own, after the client has its
 * response, one comparison at a time.
 */
export class Comparer {
  readonly #options: ComparerOptions
  readonly #check: DifferenceCheck
  readonly #waiting: UpstreamRequest[] = []
  readonly #results = new Map<string, number>()
  #isRunning = false
  #isClosed = false

  constructor(options: ComparerOptions) {
    this.#options = options
    this.#check = new DifferenceCheck(options)
  }

  get report(): ComparisonReport {
    return {
      results: Object.fromEntries(this.#results),
      waiting: this.#waiting.length + Number(this.#isRunning),
      differences: this.#check.found,
    }
  }

  /** Offers a read of a client that has its response. */
  offer(upstreamRequest: UpstreamRequest): void {
    const { rate, isCompared, isOverloaded, random } = this.#options
    const { operation, retry, body } = upstreamRequest
    if (this.#isClosed || operation === undefined || retry !== 'always' || random() >= rate) return
    if (!isCompared(operation)) return
    const isTooMuch = this.#waiting.length >= MAX_WAITING || (body?.length ?? 0) > MAX_REQUEST_BYTES
    if (isTooMuch || isOverloaded()) return this.#count('dropped', operation)
    this.#waiting.push(upstreamRequest)
    if (!this.#isRunning) void this.#run()
  }

  close(): void {
    this.#isClosed = true
    this.#waiting.length = 0
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      // The requests of clients come first.
      await nextTurn()
      await this.#compare(next)
    }
    this.#isRunning = false
  }

  async #compare(upstreamRequest: UpstreamRequest): Promise<void> {
    const { operation = '' } = upstreamRequest
    const compared = await this.#check.compare(upstreamRequest).catch(() => 'unanswered' as const)
    if (typeof compared === 'string') return this.#count(compared, operation)
    if (compared.result !== 'different')
      return this.#count(compared.result, operation, compared.result === 'known' ? compared.kind : '')
    const { difference } = compared
    this.#count(difference.isConfirmed ? 'different' : 'unconfirmed', operation)
    this.#options.onDifference(difference)
  }

  #count(result: ComparedResult, operation: string, kind = ''): void {
    const name = kind === '' ? result : `${result}: ${kind}`
    this.#results.set(name, (this.#results.get(name) ?? 0) + 1)
    this.#options.onResult(result, operation, kind)
  }
}
