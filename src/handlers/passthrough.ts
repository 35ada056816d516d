import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit } from '../pipeline/admit.ts'
import { NO_BYTES } from '../pipeline/context.ts'
import { authenticatePassthrough, notFound } from '../pipeline/locate-request.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { Application, Dependencies } from '../pipeline/dependencies.ts'
import { hookOf } from '../pipeline/request-stage.ts'
import { createAffinity } from '../proxy/passthrough/affinity.ts'
import { basePathOf, createResponseHeaders } from '../proxy/passthrough/response-headers.ts'
import { forwardedHeaders } from '../proxy/wire/forwarded.ts'
import { upstreamHeaders } from '../proxy/wire/headers.ts'
import { targetPathOf } from '../request/target.ts'
import type { UpstreamRequest } from '../proxy/wire/upstream-request.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Forwards every path under a prefix to the nodes of an application that is not part of the engine's API. Bodies and responses pass
 * unchanged. The path of the nodes replaces the prefix.
 */
export function registerPassthrough(app: FastifyInstance, dependencies: Dependencies): void {
  for (const application of dependencies.applications)
    app.register(async function passthrough(scope) {
      scope.addHook('onRequest', authenticatePassthrough(dependencies, application))
      scope.addHook('onRequest', hookOf(admit(dependencies)))
      const handler = passOn(dependencies, application)
      const bodyLimit = dependencies.config.limits.deploymentBody
      for (const url of [application.prefix, `${application.prefix}/*`])
        scope.route({ method: METHODS, url, bodyLimit, handler })
    })
}

function passOn({ publicAddress }: Pick<Dependencies, 'publicAddress'>, application: Application) {
  const { prefix, upstream } = application
  const names = upstream.nodes().map(({ node }) => node)
  const affinity = names.length > 1 ? createAffinity(prefix, names) : null
  const requestOf = createRequestOf(application)
  const responseHeaders = createResponseHeaders(application)

  return async function serve(request: FastifyRequest, reply: FastifyReply): Promise<undefined> {
    const { context, headers, raw, originalUrl } = request
    // The router also accepts a prefix that is spelt with `%`, but then the path for the application would be cut in the wrong place.
    if (!originalUrl.startsWith(prefix)) notFound()
    context.stage = 'forward'
    const { host = '' } = headers
    const address = publicAddress(raw) ?? `http://${host}`
    const wanted = affinity?.nodeOf(headers.cookie) ?? null
    const isSecure = address.startsWith('https:')
    const upstreamRequest: UpstreamRequest = {
      ...requestOf(request, address),
      preferredNode: wanted,
      shownHeaders: (answered, node) => {
        const shown = responseHeaders(answered, { host, path: targetPathOf(originalUrl) })
        return affinity?.remember(shown, { node, wanted, isSecure }) ?? shown
      },
    }
    const relayed = await upstream.relay(upstreamRequest, reply.raw, ownHeadersOf(context))
    // Until this point an error can still be sent. From here on the response is already written.
    reply.hijack()
    context.origin = { kind: 'node', node: relayed.node, body: NO_BYTES }
    context.writtenBytes = relayed.bytes
  }
}

/** Returns the request for the application. Its path is as the client sent it, because a slash at the end may have a meaning there. */
function createRequestOf({ prefix, nodes, requestPolicy, forwarded }: Application) {
  const [first = ''] = nodes
  const isRemoved = basePathOf(first) === ''
  const removed: Readonly<Record<string, string>> =
    isRemoved && forwarded !== 'none' ? { 'x-forwarded-prefix': prefix } : {}
  return ({ id, context, method, raw, originalUrl, body }: FastifyRequest, address: string) => {
    const path = originalUrl.slice(prefix.length)
    return {
      user: context.principal?.userId,
      method,
      path: isRemoved && !path.startsWith('/') ? `/${path}` : path,
      headers: {
        ...upstreamHeaders(raw.rawHeaders, requestPolicy),
        ...forwardedHeaders(forwarded, { client: context.address, address }),
        ...removed,
        'x-request-id': id,
      },
      body: Buffer.isBuffer(body) && body.length > 0 ? body : null,
      retry: method === 'GET' || method === 'HEAD' ? 'always' : 'unsent',
    } as const
  }
}
