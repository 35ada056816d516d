import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { hostPolicyOf, requestIdOf } from '../pipeline/canonical-app.ts'
import type { RequestContext, ReceivedRequest } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import type { HandOvers } from '../pipeline/hand-over.ts'
import { decidedOf } from '../pipeline/context.ts'
import type { Observer } from '../pipeline/observe.ts'
import type { RequestStage } from '../pipeline/request-stage.ts'
import { headFaultOf } from '../request/canonical.ts'
import { findHit, writeCached } from './cached.ts'
import type { KnownTarget, KnownTargets } from './known-targets.ts'

interface FastPathOptions {
  readonly dependencies: Dependencies
  readonly observer: Observer
  /** All stages up to the decision, in the order in which the framework runs them. */
  readonly stages: readonly RequestStage[]
  readonly targets: Pick<KnownTargets, 'find'>
  readonly handOvers: HandOvers
  /** Passes a request to the framework. */
  readonly route: RequestListener
}

/**
 * Creates the listener that serves cached responses without the framework. A request passes the same stages in the same order. If a
 * stage waits or refuses, or if nothing is cached, the framework continues the request with its context, after the last stage that
 * was run. Requests with unknown targets, other methods or bodies only pass the framework. docs/decisions/0015-fast-path.md has the
 * reasons.
 */
export function createFastPath(options: FastPathOptions): RequestListener {
  const { dependencies, observer, stages, targets, handOvers, route } = options
  const served = hostPolicyOf(dependencies.config)

  function handOver(
    { raw, context }: FastPathRequest,
    response: ServerResponse,
    waiting: Promise<void> | null,
  ): void {
    handOvers.set(raw, { context, waiting })
    route(raw, response)
  }

  /** Runs the stages. Returns the result of the stage that waits or refuses, or null. */
  function waitingOf(request: FastPathRequest): Promise<void> | null {
    const { context } = request
    try {
      for (const stage of stages) {
        context.passedStages += 1
        const passed = stage(request)
        if (passed instanceof Promise) return passed
      }
      return null
    } catch (refusal) {
      return Promise.reject(refusal)
    }
  }

  function passStages(request: FastPathRequest, response: ServerResponse): void {
    const waiting = waitingOf(request)
    // Requests that are read in one turn of the event loop are answered together in the next turn, as in the framework.
    if (waiting === null) setImmediate(respond, request, response)
    else handOver(request, response, waiting)
  }

  /** Writes the cached response. Returns false if nothing is cached. */
  function serveHit(request: FastPathRequest, response: ServerResponse): boolean {
    const hit = findHit(dependencies, decidedOf(request), request, request.lastKey)
    if (hit !== null) writeCached(hit, request, response)
    return hit !== null
  }

  function respond(request: FastPathRequest, response: ServerResponse): void {
    let waiting: Promise<void> | null = null
    try {
      if (serveHit(request, response)) return
    } catch (error) {
      waiting = Promise.reject(error)
    }
    handOver(request, response, waiting)
  }

  return function handle(raw, response) {
    const target = raw.method === 'GET' ? targets.find(raw.url ?? '') : undefined
    if (target === undefined || hasBody(raw) || headFaultOf(raw, served) !== null) return route(raw, response)
    const id = requestIdOf(raw.headers['x-request-id'])
    const request = new FastPathRequest(raw, target, observer.receive(raw, id))
    const span = observer.begin(request, response)
    if (span === null) passStages(request, response)
    else span.within(() => passStages(request, response))
  }
}

/** Returns whether a request has a body, or may wait for `100 Continue`. Keep-alive of HTTP/1.0 is left to the framework as well. */
function hasBody({ headers, httpVersion }: IncomingMessage): boolean {
  return (
    headers['content-length'] !== undefined ||
    headers['transfer-encoding'] !== undefined ||
    headers.expect !== undefined ||
    httpVersion !== '1.1'
  )
}

/** A request on the fast path. */
class FastPathRequest implements ReceivedRequest {
  readonly raw: IncomingMessage
  readonly method = 'GET'
  readonly headers: IncomingHttpHeaders
  readonly url: string
  readonly originalUrl: string
  readonly routeOptions: KnownTarget['routeOptions']
  readonly params: unknown
  readonly body = undefined
  readonly context: RequestContext
  readonly lastKey: KnownTarget['lastKey']

  constructor(
    raw: IncomingMessage,
    { url, params, routeOptions, lastKey }: KnownTarget,
    context: RequestContext,
  ) {
    this.raw = raw
    this.headers = raw.headers
    this.url = url
    this.originalUrl = raw.url ?? ''
    this.routeOptions = routeOptions
    this.params = params
    this.context = context
    this.lastKey = lastKey
  }

  get host(): string {
    return this.headers.host ?? ''
  }
}
