import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit } from '../pipeline/admit.ts'
import { authenticatePassthrough, notFound } from '../pipeline/match.ts'
import { ownHeadersOf } from '../pipeline/observe.ts'
import type { Application, Parts } from '../pipeline/parts.ts'
import { createAffinity } from '../proxy/passthrough/affinity.ts'
import { basePathOf, createAnswerHeaders } from '../proxy/passthrough/answer-headers.ts'
import { upstreamHeaders } from '../proxy/wire/headers.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Forwards what begins with a prefix to the nodes of an application, which is none of the engine's API: bodies and answers pass
 * as they are. The path of the nodes takes the place of the prefix.
 */
export function registerPassthrough(app: FastifyInstance, parts: Parts): void {
  for (const application of parts.applications)
    app.register(async function passthrough(scope) {
      scope.addHook('onRequest', authenticatePassthrough(parts, application))
      scope.addHook('onRequest', admit(parts))
      const handler = passOn(parts, application)
      const bodyLimit = parts.config.limits.deploymentBody
      for (const url of [application.prefix, `${application.prefix}/*`])
        scope.route({ method: METHODS, url, bodyLimit, handler })
    })
}

function passOn({ publicAddress }: Pick<Parts, 'publicAddress'>, application: Application) {
  const { prefix, nodes, upstream, requestPolicy } = application
  const names = upstream.nodes().map(({ node }) => node)
  const affinity = names.length > 1 ? createAffinity(prefix, names) : null
  const [first = ''] = nodes
  const removedPrefix = basePathOf(first) === '' ? prefix : null
  const answerHeaders = createAnswerHeaders(application)

  return async function serve(request: FastifyRequest, reply: FastifyReply): Promise<undefined> {
    const { context, method, raw, originalUrl: url, body } = request
    // As it was sent: a slash at the end may mean something to an application. The router reads a prefix that is spelt with `%`, too.
    if (!url.startsWith(prefix)) notFound()
    context.stage = 'forward'
    const { host = '' } = request.headers
    const address = publicAddress(raw) ?? `http://${host}`
    const wanted = affinity?.nodeOf(request.headers.cookie) ?? null
    const path = url.slice(prefix.length)
    const relayed = await upstream.relay(
      {
        method,
        path: path.startsWith('/') || removedPrefix === null ? path : `/${path}`,
        headers: {
          ...upstreamHeaders(raw.rawHeaders, requestPolicy),
          ...forwardedHeaders(context.address, address, removedPrefix),
          'x-request-id': request.id,
        },
        body: Buffer.isBuffer(body) && body.length > 0 ? body : null,
        retry: method === 'GET' || method === 'HEAD' ? 'always' : 'unsent',
        preferredNode: wanted,
        shownHeaders: (headers, node) => {
          const shown = answerHeaders(headers, host)
          return affinity?.remember(shown, { node, wanted, isSecure: address.startsWith('https:') }) ?? shown
        },
      },
      reply.raw,
      ownHeadersOf(context),
    )
    // Until here an error could still be answered; from here the answer is out.
    reply.hijack()
    context.node = relayed.node
    context.writtenBytes = relayed.bytes
  }
}

/** What the caller itself has sent of them is withheld. `address`: as a client writes it; `removedPrefix`: the application does not see it in the path. */
function forwardedHeaders(
  client: string,
  address: string,
  removedPrefix: string | null,
): Record<string, string> {
  const [scheme = '', host = ''] = address.split('://')
  return {
    ...(client === '' ? {} : { 'x-forwarded-for': client }),
    'x-forwarded-proto': scheme,
    'x-forwarded-host': host,
    ...(removedPrefix === null ? {} : { 'x-forwarded-prefix': removedPrefix }),
  }
}
