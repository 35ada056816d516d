import { clientSocketOf } from '../mcp/tool-calls.ts'
import { createCertificateUser } from '../request/client-certificate.ts'
import type { Principal } from '../request/principal.ts'
import { GatewayError, operatorText } from '../errors.ts'
import { isCrossOriginRequest, isFromOtherOrigin } from '../request/origin.ts'
import type { Application, EngineDependencies, Dependencies } from './dependencies.ts'
import { NO_HEADERS, setPassthrough, setPrincipal, type ReceivedRequest } from './context.ts'
import { fallbackOf } from './locate-request.ts'
import { requireReadCeiling } from './require-ceiling.ts'

/**
 * Creates a function that authenticates the caller by the credentials of the request, or else by the certificate of the connection.
 * Credentials come first: a service may connect with its own certificate and act for a user.
 */
export function createPrincipalOf({
  config: { listen },
  toolEndpoint,
}: Pick<Dependencies, 'config' | 'toolEndpoint'>) {
  const certificateUser = createCertificateUser(listen.tls?.clients ?? null)
  return (
    authenticator: EngineDependencies['authenticator'],
    { headers, raw, context }: ReceivedRequest,
  ): Principal | Promise<Principal> => {
    const { authorization } = headers
    // An empty header counts as no header.
    const user = !authorization ? certificateUser(clientSocketOf(raw, toolEndpoint?.calls)) : null
    return user === null
      ? authenticator.authenticate(authorization, context.address)
      : authenticator.authenticateUser(user)
  }
}

/**
 * Creates the authentication of a passthrough prefix. The caller must be a user of the default engine, unless `auth` is `none`.
 * A WebSocket handshake of another origin is refused unless `listen.allowedOrigins` lists the origin.
 * CORS is the task of the application: the section `cors` does not apply to its responses, and its origins may not write there.
 */
export function authenticatePassthrough(
  dependencies: Pick<Dependencies, 'engines' | 'config' | 'metrics' | 'ceilingOf' | 'toolEndpoint'>,
  application: Pick<Application, 'prefix' | 'auth'>,
  isUpgrade: (request: ReceivedRequest) => boolean,
): (request: ReceivedRequest) => Promise<void> {
  const { engines, config, metrics } = dependencies
  const principalOf = createPrincipalOf(dependencies)
  const allowedOrigins = new Set(config.listen.allowedOrigins)
  return async function authenticate(request) {
    const { authenticator } = fallbackOf(engines)
    const { context } = request
    setPassthrough(context, application)
    context.addedHeaders = NO_HEADERS
    if (
      isUpgrade(request) &&
      isFromOtherOrigin(request.headers, request.headers.host ?? '', allowedOrigins)
    ) {
      metrics.webSocketRefused({ engine: application.prefix, reason: 'origin' })
      throw new GatewayError('GW_FOREIGN_ORIGIN', {
        message: operatorText`A page of another origin may not open a WebSocket`,
      })
    }
    if (config.cors !== null && isCrossOriginRequest(request.raw, request.headers.host ?? '', allowedOrigins))
      throw new GatewayError('GW_FOREIGN_ORIGIN')
    context.stage = 'authenticate'
    if (application.auth !== 'gateway') return
    const principal = principalOf(authenticator, request)
    context.isLogin = principal instanceof Promise
    setPrincipal(context, await principal)
    requireReadCeiling(dependencies, request, isUpgrade(request))
  }
}
