import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MCP_PATH } from '../config/mcp-settings.ts'
import type { ToolEndpoint } from '../mcp/tool-endpoint.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { DEFAULT_ENGINE, fallbackOf, paramsOf } from '../pipeline/locate-request.ts'
import { noOperation, notFound } from '../pipeline/not-found.ts'
import { targetPathOf } from '../request/target.ts'
import { shareWithPages } from './tool-pages.ts'

/** The path of the metadata of a resource. The path of the resource follows it: RFC 9728 section 3.1. */
const METADATA_PATH = '/.well-known/oauth-protected-resource'
/** The method of these paths, as in `Allow`. */
const ALLOWED = 'GET'

/**
 * Registers the metadata of the endpoint as a resource of OAuth (RFC 9728). A client without a token learns from it which issuers it
 * may use. It needs no credentials, so an unknown engine has the metadata of the engine that would authenticate its callers.
 */
export function registerProtectedResource(
  app: FastifyInstance,
  dependencies: Dependencies,
  toolEndpoint: ToolEndpoint,
): void {
  if ([...toolEndpoint.issuers.values()].every((issuers) => issuers.length === 0)) return
  const serve = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const issuers = issuersOf(dependencies, toolEndpoint, request)
    if (issuers.length === 0) return notFound()
    const path = targetPathOf(request.originalUrl).slice(METADATA_PATH.length)
    return reply.header('cache-control', 'no-store').send({
      resource: `${addressOf(dependencies, request)}${path === '' ? MCP_PATH : path}`,
      authorization_servers: issuers,
      bearer_methods_supported: ['header'],
    })
  }
  app.register(async function protectedResource(scope) {
    shareWithPages(scope, dependencies.config, ALLOWED)
    scope.addHook('onRequest', function refuseOtherMethods({ method }, _reply, done) {
      done(method === ALLOWED ? undefined : noOperation(ALLOWED))
    })
    for (const path of ['', MCP_PATH, `${MCP_PATH}/engine/:engine`])
      scope.route({ method: [ALLOWED, 'OPTIONS'], url: METADATA_PATH + path, handler: serve })
  })
}

/**
 * Adds the address of the metadata to the challenge of a response with 401. The challenge for bearer tokens is the last one, so a
 * parameter at the end belongs to it.
 */
export function withMetadataAddress(
  dependencies: Dependencies,
  toolEndpoint: ToolEndpoint,
  request: FastifyRequest,
  challenge: string,
): string {
  const hasMetadata = issuersOf(dependencies, toolEndpoint, request).length > 0
  if (!hasMetadata || !/(?:^|, )Bearer [^,]*(?:, \w+="[^"]*")*$/.test(challenge)) return challenge
  const path = targetPathOf(request.originalUrl)
  return `${challenge}, resource_metadata="${addressOf(dependencies, request)}${METADATA_PATH}${path}"`
}

function issuersOf(
  { engines }: Pick<Dependencies, 'engines'>,
  { issuers }: Pick<ToolEndpoint, 'issuers'>,
  request: FastifyRequest,
): readonly string[] {
  const { engine: name = DEFAULT_ENGINE } = paramsOf(request)
  const { name: known } = engines.get(name) ?? fallbackOf(engines)
  return issuers.get(known) ?? []
}

function addressOf(
  { publicAddress }: Pick<Dependencies, 'publicAddress'>,
  { raw, host }: FastifyRequest,
): string {
  return publicAddress(raw) ?? `http://${host}`
}
