import { setTimeout } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { EngineRefusal } from '../errors.ts'
import {
  type DecidedContext,
  type DecisionMaker,
  type HandlerContext,
  type LocatedContext,
  NO_BYTES,
  type OperationRequest,
  releaseRequest,
  locatedOf,
} from '../pipeline/context.ts'
import type { ParkedRequest } from '../pipeline/parked-requests.ts'
import { type BufferedResponse, MAX_READ_BYTES } from '../request/buffered-response.ts'
import { assertTakesJson } from '../request/accept.ts'
import type { Principal } from '../request/principal.ts'
import { bodyValue } from '../request/body.ts'
import { jsonIn } from '../request/engine-request.ts'
import { fetchOfNothing } from '../lists/rewrite/narrow-topics.ts'
import { refusalOf, sendResponse } from '../pipeline/replies.ts'
import type { PollResponse } from '../proxy/long-polls/long-polls.ts'
import { NO_TASKS } from '../proxy/long-polls/poll-response.ts'
import { isFullyJudged } from '../policy/validation/validate.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'
import { decideAgain, isOutdated, isStillDecided } from '../pipeline/decide-again.ts'
import { sendFetched } from './fetch-and-lock.ts'
import { listItemsIn } from './lists/read-list-items.ts'
import { emptyResponseOf } from '../lists/answer/answer-list.ts'
import { reportMissingPermissions } from './lists/reported-items.ts'

/** Longest time that an engine holds a poll. It refuses a longer time at once. */
const LONGEST_HOLD_MS = 1_800_000

/** Longest time that the gateway holds a poll that can get no task. It is shorter than a drain. */
const MAX_HOLD_MS = 10_000

/** Returns how long the engine may hold this request, in milliseconds. Returns 0 if the engine responds at once. */
export function holdMsOf({ operation, accessRequest }: OperationRequest): number {
  if (operation.handler !== 'long poll') return 0
  const holdMs = Number(bodyValue(accessRequest.body, 'asyncResponseTimeout'))
  return holdMs > 0 && holdMs <= LONGEST_HOLD_MS ? holdMs : 0
}

interface LongPollOptions {
  /** Tenants whose tasks the caller may get. */
  readonly tenants: ReadonlySet<string> | undefined
  /** Restricts the request to the items that the last decision permits. Returns null if it permits no item. */
  readonly narrow: (context: DecidedContext, upstreamRequest: UpstreamRequest) => UpstreamRequest | null
}

/**
 * Serves a request that waits for tasks. Its decision is reviewed while it waits, and again when the engine has locked tasks for
 * it: tasks that the caller may no longer get are unlocked.
 */
export function servePoll(
  handlerContext: HandlerContext,
  { tenants, narrow }: LongPollOptions,
): Promise<FastifyReply> {
  const { context, upstreamRequest, reply } = handlerContext
  const { upstream } = context.engine
  const { template } = context.operation
  const poll = new ParkedPoll(handlerContext, narrow)
  const ended = upstream.polls.ask({
    upstreamRequest,
    holdMs: holdMsOf(context),
    caller: context.accessRequest.principal.userId,
    sink: reply.raw,
    limitBytes: MAX_READ_BYTES,
    onParked: (end) => poll.park(end),
  })
  release(context)
  return ended.then(
    (polled) => deliver(polled, { poll, upstream, reply, template, tenants }),
    (error: unknown) => {
      poll.leave()
      // The request was not sent. The next poll of the client is decided again.
      if (isOutdated(error)) return sendResponse(reply, NO_TASKS)
      throw error
    },
  )
}

interface Delivery extends Pick<LongPollOptions, 'tenants'> {
  readonly poll: ParkedPoll
  readonly upstream: Upstream
  readonly reply: FastifyReply
  readonly template: string
}

async function deliver(
  { response, node }: PollResponse,
  { poll, upstream, reply, template, tenants }: Delivery,
): Promise<FastifyReply> {
  poll.leave()
  const { context } = reply.request
  if (node !== null) context.origin = { kind: 'node', node, body: NO_BYTES }
  if (node !== null && !(await isDeliverable(poll, upstream, response))) {
    context.isWithheld = true
    return sendResponse(reply, NO_TASKS)
  }
  await reportMissingPermissions(context, template, response)
  return tenants === undefined
    ? sendResponse(reply, response)
    : sendFetched(response, { upstream, reply, tenants })
}

/**
 * Returns whether the caller may get the response. If not, its tasks are unlocked.
 * @throws GatewayError if that cannot be decided now
 */
async function isDeliverable(
  poll: ParkedPoll,
  upstream: Upstream,
  response: BufferedResponse,
): Promise<boolean> {
  const outcome = await poll.confirm()
  if (outcome === 'same') return true
  await upstream.unlockTasks(response)
  if (outcome === 'other') return false
  throw outcome
}

/** How the current decision compares with the decision that permitted the poll. An error means that no decision can be made. */
type DecisionComparison = 'same' | 'other' | Error

/**
 * A poll and the decision that permitted it. Thousands wait at the same time, so it does not keep the parsed request: another
 * decision parses the framework's request again.
 */
class ParkedPoll implements ParkedRequest {
  readonly #decisionMaker: DecisionMaker
  readonly #request: FastifyRequest
  readonly #upstreamRequest: UpstreamRequest
  readonly #principal: Principal
  readonly #narrow: LongPollOptions['narrow']
  /** Null if the poll is not parked, or has ended. */
  #end: (() => void) | null = null
  #running: Promise<DecisionComparison> | null = null

  constructor(
    { decisionMaker, context, request, upstreamRequest }: HandlerContext,
    narrow: LongPollOptions['narrow'],
  ) {
    this.#decisionMaker = decisionMaker
    this.#request = request
    this.#upstreamRequest = upstreamRequest
    this.#principal = context.principal
    this.#narrow = narrow
  }

  park(end: () => void): void {
    this.#end = end
    this.#decisionMaker.dependencies.parked.add(this)
  }

  leave(): void {
    this.#end = null
    this.#decisionMaker.dependencies.parked.delete(this)
  }

  isCurrent(): boolean {
    return this.#running === null && isStillDecided(locatedOf(this.#request))
  }

  /** Ends the poll if its decision has changed. A decision that fails is made again at the next review, and before a task is delivered. */
  async review(): Promise<void> {
    if ((await this.#decide()) === 'other') this.#end?.()
  }

  /** Decides the poll again with the current records and the current user. */
  async confirm(): Promise<DecisionComparison> {
    const { engine, principal } = locatedOf(this.#request)
    if (this.isCurrent() && engine.authenticator.isRecent(principal)) return 'same'
    let outcome = await this.#decide()
    // A review may have begun before the last change.
    for (let again = 0; again < MAX_CONFIRMATIONS && outcome === 'same' && !this.isCurrent(); again += 1)
      outcome = await this.#decide()
    return outcome === 'same' && !this.isCurrent() ? 'other' : outcome
  }

  #decide(): Promise<DecisionComparison> {
    this.#running ??= this.#outcome().finally(() => (this.#running = null))
    return this.#running
  }

  async #outcome(): Promise<DecisionComparison> {
    const context = locatedOf(this.#request)
    const { stage } = context
    try {
      const decided = await decideAgain(this.#decisionMaker, context, this.#request)
      return isSameCaller(decided.principal, this.#principal) && this.#isSameRequest(decided)
        ? 'same'
        : 'other'
    } catch (error) {
      return outcomeOfRefusal(error)
    } finally {
      context.stage = stage
      release(context)
    }
  }

  #isSameRequest(context: DecidedContext): boolean {
    if (context.listDecision.visibility !== 'all' && context.listDecision.strategy !== 'rewrite') return false
    const sent = this.#upstreamRequest.body
    const body = this.#narrow(context, { ...this.#upstreamRequest, body: context.bytes })?.body ?? null
    return sent !== null && body !== null && sent.equals(body)
  }
}

/** Limit of decisions before a response, because records may change all the time. */
const MAX_CONFIRMATIONS = 3

function isSameCaller(one: Principal, other: Principal): boolean {
  return (
    one === other ||
    (one.userId === other.userId &&
      isDeepStrictEqual(one.groups, other.groups) &&
      isDeepStrictEqual(one.tenants, other.tenants))
  )
}

/** Returns the outcome of an error. Unavailable users, records or nodes are not a refusal. */
function outcomeOfRefusal(error: unknown): DecisionComparison {
  const refusal = refusalOf(error)
  const isRefused = refusal instanceof EngineRefusal || refusal.statusCode < 500
  return isRefused && refusal.statusCode !== 429 ? 'other' : refusal
}

/** Releases the parsed request. It is already checked, and its bytes are in the request to the engine. */
function release(context: LocatedContext): void {
  releaseRequest(context)
  // A new id is a chain of twenty strings (500 bytes). Searching it joins them into one string.
  context.id.includes('\n')
}

/**
 * Serves a fetch without any task for the caller. If the gateway cannot validate the request completely, the engine does, and does
 * not hold it.
 */
export async function serveFetchOfNothing({
  context,
  upstreamRequest,
  reply,
}: HandlerContext): Promise<FastifyReply> {
  if (isFullyJudged(context.operation, context.accessRequest)) return serveNothing(context, reply)
  const body = upstreamRequest.body && fetchOfNothing(upstreamRequest.body, holdMsOf(context) > 0)
  const { upstream } = context.engine
  const response = await upstream.fetch({ ...upstreamRequest, body }, MAX_READ_BYTES)
  if (response.status >= 400) return sendResponse(reply, response)
  // Empty, unless the engine does not know the member that restricts the fetch to no task.
  if (listItemsIn(jsonIn(response.body)).length > 0) await upstream.unlockTasks(response)
  return serveNothing(context, reply)
}

/** Sends an empty response. A poll is held first, because its worker would otherwise poll again at once, repeatedly. */
export async function serveNothing(context: OperationRequest, reply: FastifyReply): Promise<FastifyReply> {
  assertTakesJson(reply.request.headers.accept)
  reply.request.context.isWithheld = true
  const holdMs = holdMsOf(context)
  if (holdMs > 0) await setTimeout(Math.min(holdMs, MAX_HOLD_MS), undefined, { ref: false })
  return sendResponse(reply, emptyResponseOf(context.operation, reply.request.method))
}
