import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RequestContext } from './context.ts'
import type { Dependencies } from './dependencies.ts'
import { networkOf } from '../policy/authn/throttle.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { RateResult } from '../policy/limits/rate.ts'
import { ANONYMOUS, type Principal } from '../request/principal.ts'

type AdmissionHook = (request: FastifyRequest, reply: unknown, done: HookHandlerDoneFunction) => void

/** Refuses requests while the process is overloaded. It runs before authentication, so that a refused request costs only this hook. */
export function addLoadShedding(app: FastifyInstance, { pressure }: Pick<Dependencies, 'pressure'>): void {
  app.addHook('onRequest', function shedHook(request, _reply, done) {
    const refusal = pressure.refusal()
    if (refusal === null) return done()
    request.context.stage = 'admit'
    done(refusal)
  })
}

/** Counts the request against the rate limit of the principal, and checks whether there is memory for its body. */
export function admit({ pressure }: Pick<Dependencies, 'pressure'>): AdmissionHook {
  return function admitHook(request, _reply, done) {
    const { context } = request
    const { engine, principal } = context
    context.stage = 'admit'
    const taken = principal === null ? null : (engine?.takeRate?.(rateKeyOf(principal, context)) ?? null)
    if (taken instanceof Promise) taken.then((one) => conclude(request, one)).then(() => done(), done)
    else {
      conclude(request, taken)
      done()
    }
  }
  function conclude(request: FastifyRequest, taken: RateResult | null): void {
    const { context } = request
    if (taken !== null) {
      context.addedHeaders = { ...context.addedHeaders, ...taken.headers }
      if (taken.refusal !== null) throw taken.refusal
    }
    reserveBody(pressure, request)
    context.stage = 'body'
  }
}

/**
 * Returns the key of a rate limit. Anonymous callers are counted by their network. No user id contains the control character at the
 * start of these keys, so no user shares a limit with a network.
 */
export function rateKeyOf(principal: Principal, { address }: Pick<RequestContext, 'address'>): string {
  return principal === ANONYMOUS ? `\0address:${networkOf(address)}` : principal.userId
}

/** Smaller bodies are not worth a reservation. */
const LARGE_BYTES = 64 * 1024

/**
 * Reserves memory for the body. Memory is measured ten times a second, and many bodies can arrive in between, so announced bodies
 * count as if they were there.
 */
function reserveBody(pressure: Pressure, request: FastifyRequest): void {
  const bytes = Number(request.headers['content-length'] ?? 0)
  if (bytes < LARGE_BYTES) return
  // A body that is too large for its route is refused there, and never read. The body of an aborted request does not arrive.
  if (bytes > request.routeOptions.bodyLimit || request.raw.destroyed) return
  const refusal = pressure.reserve(bytes)
  if (refusal !== null) throw refusal
  request.raw.once('close', () => pressure.release(bytes))
}
