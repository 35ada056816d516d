import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GatewayError } from './errors.ts'
import { accessRecordOf } from './metrics/observe.ts'
import type { Parts } from './parts.ts'

/** What every answer carries. While the gateway drains, no connection is kept. */
export function ownHeadersOf({ id }: FastifyRequest, isDraining: boolean): Record<string, string> {
  const headers = { 'x-request-id': id, via: '1.1 engine-gateway' }
  return isDraining ? { ...headers, connection: 'close' } : headers
}

/** nginx's status for a client that left before it was answered; never on a wire. */
const CLIENT_CLOSED = 499

/** 12. Observe: every request is counted when it comes and written down when its answer, or its client, has gone. */
export function observe(app: FastifyInstance, parts: Parts): void {
  const { metrics, isDraining } = parts
  const open = new WeakSet<FastifyRequest>()
  const end = (request: FastifyRequest, reply: FastifyReply): void => {
    if (open.delete(request)) record(parts, request, reply)
  }
  app.addHook('onRequest', function begin(request, reply, done) {
    open.add(request)
    metrics.inFlight(1)
    reply.headers(ownHeadersOf(request, isDraining()))
    // An answer that is cut off never finishes, and onResponse is not called for it.
    reply.raw.once('close', () => end(request, reply))
    done()
  })
  app.addHook('onResponse', function finish(request, reply, done) {
    end(request, reply)
    done()
  })
}

function record({ metrics, log }: Parts, request: FastifyRequest, reply: FastifyReply): void {
  const { operation, engine } = labelsOf(request)
  const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED
  const durationMs = reply.elapsedTime
  metrics.inFlight(-1)
  metrics.requestDone({ operation, engine, method: request.method, status }, durationMs / 1000)
  const { refusal } = request
  if (refusal !== null) metrics.refusal({ engine, operation, stage: request.stage, reason: codeOf(refusal) })
  if (refusal !== null && refusal.statusCode >= 500)
    log.error({ requestId: request.id, err: refusal.cause ?? refusal }, refusal.message)
  log.info(
    accessRecordOf({
      requestId: request.id,
      operation,
      engine,
      method: request.method,
      status,
      durationMs,
      user: request.principal?.userId ?? null,
      node: request.node,
      cache: request.cacheStatus,
      bytes: request.relayedBytes ?? Number(reply.raw.getHeader('content-length') ?? 0),
      error: refusal === null ? null : errorOf(refusal),
    }),
  )
}

function labelsOf(request: FastifyRequest): { readonly operation: string; readonly engine: string } {
  return { operation: request.routeOptions.config.operation?.id ?? '', engine: request.engine?.name ?? '' }
}

/** A label of few values: the gateway's code, or the status that the engine's verdict has. */
function codeOf(refusal: NonNullable<FastifyRequest['refusal']>): string {
  return isOwn(refusal) ? refusal.code : String(refusal.statusCode)
}

function errorOf(refusal: NonNullable<FastifyRequest['refusal']>): string {
  return isOwn(refusal) ? `${refusal.code}: ${refusal.message}` : refusal.reason
}

function isOwn(refusal: NonNullable<FastifyRequest['refusal']>): refusal is GatewayError {
  return 'code' in refusal
}
