import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { attemptedUserOf, type AuditSettings, auditsOf, passedPathOf } from './audit.ts'
import { comparisonOf } from './compare-decision.ts'
import type { GatewayError } from '../errors.ts'
import type { Metrics } from '../metrics/registry.ts'
import { accessRecordOf, bounded, shownPathOf } from '../metrics/access-log.ts'
import { createRecordWriter } from '../log.ts'
import { loggedCauseOf, withoutMessages } from '../request/logged-causes.ts'
import { loggedCacheStatusOf, nodeOf, receive, type RequestContext, type ReceivedRequest } from './context.ts'
import { bodyBytesOf, signReply } from './replies.ts'
import type { Dependencies } from './dependencies.ts'
import type { HandOvers } from './hand-over.ts'
import { spanSummaryOf } from './request-span.ts'
import { traceIdOf } from '../request/trace-parent.ts'
import type { RequestSpan } from '../traces/traces.ts'
import { createClientAddress } from '../request/client-address.ts'

/** Returns the headers of every response. */
export function ownHeadersOf({ id, addedHeaders }: RequestContext): Record<string, string> {
  return { 'x-request-id': id, via: '1.1 engine-gateway', ...addedHeaders }
}

/** Status of nginx for a client that disconnected before the response. It is never sent. */
const CLIENT_CLOSED = 499

/** 12. Observe: every request is counted at its start, and recorded when its response is complete or its client has disconnected. */
export interface Observer {
  /** Creates the context of a request. */
  readonly receive: (request: IncomingMessage, id: string) => RequestContext
  /** Counts a request, and records its end. Returns its span: all later stages run within it. Null if traces are not configured. */
  readonly begin: (request: ReceivedRequest, response: ServerResponse) => RequestSpan | null
}

export function createObserver(dependencies: Dependencies): Observer {
  const { metrics, traces } = dependencies
  const records = recordsOf(dependencies)
  const addressOf = createClientAddress(dependencies.config.listen.trustedProxies)
  return {
    receive: (request, id) => {
      const context = receive(id, addressOf(request))
      const call = dependencies.toolEndpoint?.calls.get(request.socket)
      if (call !== undefined) context.via = { way: 'mcp', tool: call.tool }
      return context
    },
    begin: (request, response) => {
      const startedAtMs = performance.now()
      metrics.inFlight(1)
      const span = traces?.begin(request.headers) ?? null
      const traceId = span?.traceId ?? traceIdOf(request.headers['traceparent'])
      // Emitted once for every response, also for one that is cut off. `onResponse` is not called for those.
      response.on('close', () => {
        const durationMs = performance.now() - startedAtMs
        // The event is emitted in a tick, before pending promises resolve. The handler knows the node only after them.
        queueMicrotask(() => {
          const finished = finishedRequestOf(request, response, { durationMs, span, traceId })
          for (const record of records) record(finished)
        })
      })
      return span
    },
  }
}

/** Registers the observer. A request from the fast path is already observed. */
export function observe(app: FastifyInstance, observer: Observer, handOvers: HandOvers): void {
  app.decorateRequest('context')
  app.addHook('onRequest', function begin(request, reply, done) {
    const handOver = handOvers.get(request.raw)
    if (handOver !== undefined) {
      request.context = handOver.context
      if (handOver.waiting === null) done()
      else handOver.waiting.then(() => done(), done)
      return
    }
    request.context = observer.receive(request.raw, request.id)
    const span = observer.begin(request, reply.raw)
    // The framework keeps this context while the body arrives from the connection.
    if (span === null) done()
    else span.within(done)
  })
  // Responses that bypass the framework set the same headers themselves.
  app.addHook('onSend', function sign(request, reply, payload, done) {
    request.context.writtenBytes = bodyBytesOf(request.method, payload)
    signReply(reply, ownHeadersOf(request.context))
    done()
  })
}

/** A request whose response is complete, or whose client has disconnected. */
interface FinishedRequest {
  readonly request: ReceivedRequest
  readonly response: ServerResponse
  readonly durationMs: number
  /** The status that the client got, or 499 if it disconnected before the response. */
  readonly status: number
  /** The labels of the operation and the engine in metrics and in the log. */
  readonly labels: ReturnType<typeof labelsOf>
  /** The gateway's code, or the status of the engine's refusal. Null if the request was not refused. */
  readonly reason: string | null
  /** Why the response was cut off. Null if it is complete. */
  readonly cut: string | null
  /** The comparison of the gateway's decision with that of the engine. Null if they were not compared. */
  readonly comparison: ReturnType<typeof comparisonOf>
  /** Null if traces are not configured. */
  readonly span: RequestSpan | null
  /** The trace id of the span, or else of the caller's `traceparent`. Null without both. */
  readonly traceId: string | null
}

type End = Pick<FinishedRequest, 'durationMs' | 'span' | 'traceId'>

function finishedRequestOf(request: ReceivedRequest, response: ServerResponse, end: End): FinishedRequest {
  const { context } = request
  const status = response.headersSent ? response.statusCode : CLIENT_CLOSED
  return {
    request,
    response,
    ...end,
    status,
    labels: labelsOf(context),
    reason: context.refusal === null ? null : codeOf(context.refusal),
    cut: cutOf(response),
    comparison: comparisonOf(context, status),
  }
}

/** Records one aspect of each finished request. */
type RecordRequest = (finished: FinishedRequest) => void

/** The records of a finished request, in this order. */
function recordsOf({ metrics, log, audit, config }: Dependencies): readonly RecordRequest[] {
  return [
    createCountRequest(metrics),
    createCountDecision(metrics),
    createLogCause(log),
    createWriteAccessLine(log),
    createWriteAudits(audit, config.audit),
    endSpan,
  ]
}

function createCountRequest(metrics: Metrics): RecordRequest {
  return function countRequest({ request: { method }, labels, status, durationMs }) {
    metrics.inFlight(-1)
    metrics.requestDone({ ...labels, method, status }, durationMs / 1000)
  }
}

/** Counts the refusal of a request, or the rules that changed its query string instead, and the comparison of decisions. */
function createCountDecision(metrics: Metrics): RecordRequest {
  return function countDecision({ request: { context }, labels, reason, comparison }) {
    if (reason !== null) metrics.refusal({ ...labels, stage: context.stage, reason })
    else for (const { rule } of context.changes) metrics.queryChange({ ...labels, rule })
    if (comparison !== null) metrics.comparison({ ...labels, result: comparison })
  }
}

/**
 * Logs the cause of a refusal. An error that only a developer can fix is logged with its stack. Every other refusal is expected,
 * and the access line of the request contains it. Changes of nodes, sources and overload, which concern an operator, are logged
 * once where they happen. The cause that the system or the connection reported is logged in addition, for the analysis of a single
 * request.
 */
function createLogCause(log: Dependencies['log']): RecordRequest {
  return function logCause({ request: { context } }) {
    const { id: requestId, refusal } = context
    if (refusal === null) return
    if (isOwn(refusal) && refusal.code === 'GW_INTERNAL')
      log.error({ requestId, err: withoutMessages(refusal.cause ?? refusal) }, bounded(refusal.message))
    else if (refusal.statusCode >= 500 && refusal.cause instanceof Error)
      log.info({ requestId, cause: bounded(loggedCauseOf(refusal.cause)) }, bounded(refusal.message))
  }
}

function createWriteAccessLine(log: Dependencies['log']): RecordRequest {
  const writeRecord = createRecordWriter(log)
  return function writeAccessLine({ request, response, labels, status, durationMs, traceId, cut }) {
    const { context, method } = request
    const { passthrough, refusal } = context
    writeRecord(
      accessRecordOf({
        requestId: context.id,
        traceId,
        ...labels,
        method,
        prefix: passthrough === 'none' ? null : passthrough.prefix,
        path: loggedPathOf(request),
        status,
        durationMs,
        client: context.address,
        user: context.principal?.userId ?? null,
        attemptedUser: attemptedUserOf(request),
        node: nodeOf(context),
        cache: loggedCacheStatusOf(context),
        bytes: response.headersSent ? context.writtenBytes : 0,
        error: refusal === null ? cut : errorOf(refusal),
      }),
    )
  }
}

function createWriteAudits(audit: Dependencies['audit'], settings: AuditSettings): RecordRequest {
  return function writeAudits({ request, ...end }) {
    for (const each of auditsOf(request, end, settings)) audit(each)
  }
}

function endSpan({ request, response, span, status, reason, cut }: FinishedRequest): void {
  span?.end(() => spanSummaryOf(request, response, { status, reason, isCut: cut !== null }))
}

/** Returns the path for the access log. Null for an operation: its path contains ids, and the audit log has them. */
function loggedPathOf(request: ReceivedRequest): string | null {
  const passed = passedPathOf(request)
  return passed === null && request.context.operation === null ? shownPathOf(request.originalUrl) : passed
}

type Refusal = NonNullable<RequestContext['refusal']>

function labelsOf({ operation, engine, passthrough }: RequestContext) {
  return {
    operation: operation?.id ?? (passthrough === 'none' ? '' : PASSTHROUGH),
    engine: engine?.name ?? '',
  }
}

/** Label of requests outside the API: the applications behind prefixes. */
const PASSTHROUGH = 'passthrough'

/** Returns a label with few values: the gateway's code, or the status of the engine's refusal. */
function codeOf(refusal: Refusal): string {
  return isOwn(refusal) ? refusal.code : String(refusal.statusCode)
}

function errorOf(refusal: Refusal): string {
  return isOwn(refusal) ? `${refusal.code}: ${refusal.message}` : refusal.reason
}

/**
 * Returns the error of a response that was cut off. The status alone would look like a success. The response that opens a WebSocket
 * has no body that could be cut off.
 */
function cutOf({ headersSent, statusCode, writableEnded }: ServerResponse): string | null {
  return headersSent && !writableEnded && statusCode !== 101 ? 'the response was interrupted' : null
}

function isOwn(refusal: Refusal): refusal is GatewayError {
  return 'code' in refusal
}
