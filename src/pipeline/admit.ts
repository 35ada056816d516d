import { GatewayError } from '../errors.ts'
import { isPermissionRecorded } from './audit.ts'
import type { RequestContext, ReceivedRequest } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { networkOf } from '../policy/authn/throttle.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { RateResult } from '../policy/limits/rate.ts'
import { chain } from '../request/maybe-promise.ts'
import { ANONYMOUS, type Principal } from '../request/principal.ts'
import type { RequestStage } from './request-stage.ts'

/**
 * Refuses all requests while memory is used up or the event loop is far too late. It runs before authentication, so that a refused
 * request costs only this stage.
 */
export function shedLoad({ pressure }: Pick<Dependencies, 'pressure'>): RequestStage {
  return function shedLoadStage({ context }) {
    const refusal = pressure.refusal()
    if (refusal === null) return
    context.stage = 'admit'
    throw refusal
  }
}

/** Counts the request, and checks whether its audit line can be written and whether there is memory for its body. */
export function admit(
  dependencies: Pick<Dependencies, 'pressure' | 'ruleRateOf' | 'config' | 'isAuditWritable'>,
): RequestStage {
  const count = countRequest(dependencies)
  const reserve = reserveBody(dependencies)
  const requireAudit = dependencies.config.audit.required ? requireAuditLine(dependencies) : null
  return function admitStage(request) {
    requireAudit?.(request)
    return chain(count(request), () => reserve(request))
  }
}

/** Returns the announced length of the body in bytes, which is 0 if the body has chunks. */
function announcedBytes(headers: ReceivedRequest['headers']): number {
  return Number(headers['content-length'] ?? 0)
}

/**
 * Counts the request of the caller, and refuses it if the event loop is late and the caller is one of those that cause most of the
 * load. Also counts it against the rate limit of the principal or of a rule for it.
 */
export function countRequest({
  ruleRateOf,
  pressure,
}: Pick<Dependencies, 'ruleRateOf' | 'pressure'>): RequestStage {
  return function countRequestStage({ context, headers }) {
    const { engine, principal } = context
    context.stage = 'admit'
    // Without authentication, callers are counted by their networks, as anonymous callers are.
    const caller = rateKeyOf(principal ?? ANONYMOUS, context)
    const refusal = pressure.refusalOf(caller, announcedBytes(headers))
    if (refusal !== null) throw refusal
    const taken =
      principal === null
        ? null
        : (engine?.takeRate?.(rateKeyOf(principal, context), ruleRateOf(principal)) ?? null)
    return chain(taken, (one) => conclude(context, one))
  }
}

function conclude(context: RequestContext, taken: RateResult | null): void {
  if (taken === null) return
  context.addedHeaders = { ...context.addedHeaders, ...taken.headers }
  if (taken.refusal !== null) throw taken.refusal
}

/**
 * Returns the key of a rate limit. Anonymous callers are counted by their network. No user id contains the control character at the
 * start of these keys, so no user shares a limit with a network.
 */
export function rateKeyOf(principal: Principal, { address }: Pick<RequestContext, 'address'>): string {
  return principal === ANONYMOUS ? `\0address:${networkOf(address)}` : principal.userId
}

/** The time after which a client may try again. */
const AUDIT_RETRY_SECONDS = 5

/** Refuses requests that have an audit line if they are permitted, while audit lines cannot be written. */
function requireAuditLine({ config, isAuditWritable }: Pick<Dependencies, 'config' | 'isAuditWritable'>) {
  return function requireAudit(request: ReceivedRequest): void {
    if (isAuditWritable() || !isPermissionRecorded(request, config.audit)) return
    request.context.stage = 'admit'
    throw new GatewayError('GW_AUDIT_UNAVAILABLE', { retryAfterSeconds: AUDIT_RETRY_SECONDS })
  }
}

/** Smaller bodies are not worth a reservation. */
const LARGE_BYTES = 64 * 1024

/**
 * Reserves memory for the body. Memory is measured ten times a second, and many bodies can arrive in between, so announced bodies
 * count as if they were there.
 */
export function reserveBody({ pressure }: Pick<Dependencies, 'pressure'>): RequestStage {
  return function reserveBodyStage(request) {
    request.context.stage = 'admit'
    reserveAnnounced(pressure, request)
    request.context.stage = 'body'
  }
}

function reserveAnnounced(pressure: Pressure, request: ReceivedRequest): void {
  const bytes = announcedBytes(request.headers)
  if (bytes < LARGE_BYTES) return
  // A body that is too large for its route is refused there, and never read. The body of an aborted request does not arrive.
  if (bytes > request.routeOptions.bodyLimit || request.raw.destroyed) return
  const refusal = pressure.reserve(bytes)
  if (refusal !== null) throw refusal
  request.raw.once('close', () => pressure.release(bytes))
}
