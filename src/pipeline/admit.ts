import type { FastifyInstance, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { RequestContext } from './context.ts'
import type { Parts } from './parts.ts'
import { networkOf } from '../policy/authn/throttle.ts'
import type { Pressure } from '../policy/limits/pressure.ts'
import type { RateResult } from '../policy/limits/rate.ts'
import { ANONYMOUS, type Principal } from '../request/principal.ts'

type Stepped = (request: FastifyRequest, reply: unknown, done: HookHandlerDoneFunction) => void

/** While the process has no room, a request costs no more than this: it is not even asked who sends it. */
export function shed(app: FastifyInstance, { pressure }: Pick<Parts, 'pressure'>): void {
  app.addHook('onRequest', function shedHook(request, _reply, done) {
    const refusal = pressure.refusal()
    if (refusal === null) return done()
    request.context.stage = 'admit'
    done(refusal)
  })
}

/** How much this principal may ask, and whether there is room for what the request brings. */
export function admit({ pressure }: Pick<Parts, 'pressure'>): Stepped {
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

/** Nobody is counted by address. The colon is in no user's name. */
function rateKeyOf(principal: Principal, { address }: RequestContext): string {
  return principal === ANONYMOUS ? `address:${networkOf(address)}` : principal.userId
}

/** A smaller body is not worth the look. */
const LARGE_BYTES = 64 * 1024

/** Memory is looked at ten times a second, and much can come in between: what is to come is counted as if it were there. */
function reserveBody(pressure: Pressure, request: FastifyRequest): void {
  const bytes = Number(request.headers['content-length'] ?? 0)
  if (bytes < LARGE_BYTES) return
  // What is too large for its route is refused by that, and never read; what was broken off does not come.
  if (bytes > request.routeOptions.bodyLimit || request.raw.destroyed) return
  const refusal = pressure.reserve(bytes)
  if (refusal !== null) throw refusal
  request.raw.once('close', () => pressure.release(bytes))
}
