import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MCP_PATH } from '../config/mcp-settings.ts'
import { GatewayError, operatorText } from '../errors.ts'
import { createInProcessClient } from '../mcp/in-process-client.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import type { ServedMessage } from '../mcp/tool-server.ts'
import { countRequest, reserveBody } from '../pipeline/admit.ts'
import type { ReceivedRequest, RequestContext } from '../pipeline/context.ts'
import { setPrincipal, setRoute } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { createPrincipalOf } from '../pipeline/authenticate-caller.ts'
import { DEFAULT_ENGINE, fallbackOf, paramsOf } from '../pipeline/locate-request.ts'
import { noOperation, unknownEngine } from '../pipeline/not-found.ts'
import { hookOf, type RequestStage } from '../pipeline/request-stage.ts'
import { checkMedia } from '../policy/validation/media.ts'
import { METHODS } from '../request/canonical.ts'
import { readJson } from '../request/json.ts'
import { chain } from '../request/maybe-promise.ts'
import { pickHeaders } from '../request/picked-headers.ts'
import { isObject, stringIn } from '../request/value.ts'
import { type CallTool, createCallTool } from './call-tool.ts'
import { registerProtectedResource, withMetadataAddress } from './protected-resource-routes.ts'
import { onClosed } from './closed-response.ts'
import { serveNotificationStream } from './notification-stream.ts'
import { createOpenNotifications, type OpenNotifications } from './tool-notifications.ts'
import type { DescribedCaller } from './possible-operations.ts'
import { refusePages, shareWithPages } from './tool-pages.ts'
import { visibleTools } from './visible-tools.ts'

/** The path of the default engine, and the path of an engine by its name. */
const PATHS = [MCP_PATH, `${MCP_PATH}/engine/:engine`] as const
/** The methods of these paths, as in `Allow`. */
const ALLOWED = 'GET, POST'

/** The headers of a client that the protocol reads. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/**
 * Registers the endpoint for tools, if it is configured. Its own stages protect the endpoint: who calls, from which page, and how
 * often. They decide nothing about an operation: a call becomes a request to the API, which `handle` serves like any other.
 */
export function registerToolEndpoint(
  app: FastifyInstance,
  dependencies: Dependencies,
  handle: RequestListener,
): void {
  const { config, toolEndpoint } = dependencies
  if (config.mcp === null || toolEndpoint === null) return
  const client = createInProcessClient(handle, {
    calls: toolEndpoint.calls,
    maxBytes: config.mcp.maxResultBytes,
  })
  const callTool = createCallTool(dependencies, { ...config.mcp, tools: toolEndpoint.tools }, client)
  const openNotifications = createOpenNotifications(dependencies, toolEndpoint)
  const handler = createServe(dependencies, toolEndpoint, { callTool, openNotifications })
  registerProtectedResource(app, dependencies, toolEndpoint)
  app.register(async function tools(scope) {
    scope.addHook('onSend', function nameMetadata(request, reply, payload, done) {
      const challenge = reply.statusCode === 401 ? reply.getHeader('www-authenticate') : undefined
      if (typeof challenge === 'string')
        reply.header('www-authenticate', withMetadataAddress(dependencies, toolEndpoint, request, challenge))
      done(null, payload)
    })
    shareWithPages(scope, config, ALLOWED)
    scope.addHook('onRequest', hookOf(refusePages(config)))
    scope.addHook('onRequest', hookOf(authenticateCaller(dependencies)))
    scope.addHook('onRequest', hookOf(checkMessageHead))
    scope.addHook('onRequest', hookOf(reserveBody(dependencies)))
    for (const url of PATHS)
      scope.route({
        method: [...METHODS],
        url,
        bodyLimit: config.limits.body,
        handler,
      })
  })
}

/** Authenticates the caller like a request to the API. Only then does a caller learn whether an engine exists. */
function authenticateCaller(dependencies: Dependencies): RequestStage {
  const { engines } = dependencies
  const principalOf = createPrincipalOf(dependencies)
  return function authenticateCallerStage(request) {
    const { context } = request
    context.stage = 'authenticate'
    const { engine: named } = paramsOf(request)
    const engineName = named ?? DEFAULT_ENGINE
    const engine = engines.get(engineName) ?? null
    setRoute(context, { engineName, isEngineNamed: named !== undefined, engine, operation: null })
    const { authenticator } = engine ?? fallbackOf(engines)
    const principal = principalOf(authenticator, request)
    if (principal instanceof Promise) context.isLogin = true
    return chain(principal, (caller) => {
      setPrincipal(context, caller)
      if (engine === null) throw unknownEngine(engineName)
    })
  }
}

const EVENT_STREAM = /\btext\/event-stream\b/i
const JSON_MEDIA = /^application\/json *(?:;|$)/i

/** Checks the method, the media type and the coding before any byte of the body is read. */
function checkMessageHead(request: ReceivedRequest): void {
  const { context, method, headers } = request
  context.stage = 'body'
  // A client that does not accept streams has no use for a GET.
  if (method === 'GET' && EVENT_STREAM.test(headers.accept ?? '')) return
  if (method !== 'POST') throw noOperation(ALLOWED)
  if (!JSON_MEDIA.test(headers['content-type'] ?? '')) throw new GatewayError('GW_UNSUPPORTED_MEDIA')
  checkMedia({ method }, headers)
}

interface EndpointHandlers {
  readonly callTool: CallTool
  readonly openNotifications: OpenNotifications
}

/** Returns the handler of the endpoint. */
function createServe(
  dependencies: Dependencies,
  { tools, serve }: ToolEndpoint,
  { callTool, openNotifications }: EndpointHandlers,
) {
  const count = countRequest(dependencies)

  /** Opens the notifications of a message that subscribes to them. Their stream is the response to the message. */
  async function subscribe(
    request: FastifyRequest,
    reply: FastifyReply,
    tell: (work: (served: ServedMessage) => void) => void,
  ): Promise<void> {
    await openNotifications({
      request,
      reply,
      caller: callerOf(request.context),
      notify: () => tell((served) => served.notify()),
      end: () => tell((served) => served.end()),
    })
  }

  async function serveMessage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { context } = request
    const message = messageIn(request.body)
    const method = stringIn(message, 'method')
    const isCall = method === 'tools/call'
    // The request of a call is counted when it passes the stages, and every other message here.
    if (!isCall) await count(request)
    context.stage = 'forward'
    const abort = new AbortController()
    onClosed(reply.raw, () => abort.abort())
    let isSent = false
    const { promise: opened, resolve: open } = Promise.withResolvers<ServedMessage>()
    if (method === 'subscriptions/listen') await subscribe(request, reply, (work) => void opened.then(work))
    const served = await serve({
      url: `http://localhost${MCP_PATH}`,
      headers: pickHeaders(request.headers, PROTOCOL_HEADERS),
      message,
      signal: abort.signal,
      list: async () => {
        const visible = await visibleTools(dependencies, tools, {
          caller: callerOf(context),
          isAwaited: () => !abort.signal.aborted,
        })
        return visible.map(({ description }) => description)
      },
      call: () => callTool({ request, message, signal: abort.signal, onSent: () => (isSent = true) }),
    })
    open(served)
    // A call without a request would otherwise cost the caller nothing.
    if (isCall && !isSent) await count(request)
    return sendMessage(reply, served.response, context)
  }

  return async function serveEndpoint(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (request.method !== 'GET') return serveMessage(request, reply)
    await count(request)
    request.context.stage = 'forward'
    return serveNotificationStream(openNotifications, { request, reply, caller: callerOf(request.context) })
  }
}

/**
 * Returns the message in a body.
 * @throws GatewayError if it is not one JSON object. Lists of messages are refused: the protocol has removed them, and one request
 * would be many.
 */
function messageIn(body: unknown): Readonly<Record<string, unknown>> {
  const message = readJson(Buffer.isBuffer(body) ? body : Buffer.alloc(0))
  if (isObject(message)) return message
  throw new GatewayError('GW_BAD_REQUEST', {
    message: operatorText`The body must be one message, and no list of messages`,
  })
}

/** Returns the caller and the engine after the stages of the endpoint. */
function callerOf({ engine, engineName, principal }: RequestContext): DescribedCaller {
  if (engine === null || principal === null) throw unknownEngine(engineName)
  return { engine, principal }
}

/** Sends the response of the SDK. Of its headers, only the media type is used. */
async function sendMessage(
  reply: FastifyReply,
  response: Response,
  context: RequestContext,
): Promise<FastifyReply> {
  const mediaType = response.headers.get('content-type')
  reply.code(response.status).header('cache-control', 'no-store')
  if (mediaType !== null) reply.header('content-type', mediaType)
  if (response.body === null) return reply.send()
  if (mediaType?.startsWith('text/event-stream') !== true)
    return reply.send(Buffer.from(await response.arrayBuffer()))
  // Some proxies collect a response before they send it, unless this header is set.
  reply.header('x-accel-buffering', 'no')
  return reply.send(Readable.from(counted(response.body, context)))
}

async function* counted(body: AsyncIterable<Uint8Array>, context: RequestContext) {
  for await (const chunk of body) {
    context.writtenBytes += chunk.length
    yield chunk
  }
}
