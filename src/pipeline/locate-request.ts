import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import { clientSocketOf } from '../mcp/tool-calls.ts'
import { targetPathOf } from '../request/target.ts'
import { createCertificateUser } from '../request/client-certificate.ts'
import type { Principal } from '../request/principal.ts'
import {
  type RefusalText,
  operatorTextOf,
  callerTextOf,
  ownText,
  type EngineRefusal,
  GatewayError,
  jsonRefusalOf,
  operatorText,
} from '../errors.ts'
import { isCrossOriginRequest, isFromOtherOrigin } from '../request/origin.ts'
import type { Application, EngineDependencies, Dependencies } from './dependencies.ts'
import {
  type CheckedContext,
  type DecidedContext,
  isChecked,
  isDecided,
  isLocated,
  type LocatedContext,
  NO_HEADERS,
  type RequestContext,
  setPassthrough,
  setPrincipal,
  type ReceivedRequest,
} from './context.ts'
import { requireReadCeiling } from './require-ceiling.ts'
import { spellsLiterals } from './routes.ts'

/** Name of the engine for a path without an engine's name. */
export const DEFAULT_ENGINE = 'default'

/**
 * Returns the context after stage 4.
 * @throws EngineRefusal 404 if an earlier stage was left out, because nothing is then known about the request
 */
export function locatedOf({ context }: ReceivedRequest): LocatedContext {
  if (!isLocated(context)) throw notFoundRefusal()
  return context
}

/**
 * Returns the context after stage 6.
 * @throws as locatedOf
 */
export function checkedOf({ context }: ReceivedRequest): CheckedContext {
  if (!isChecked(context)) throw notFoundRefusal()
  return context
}

/**
 * Returns the context after stage 7.
 * @throws as locatedOf
 */
export function decidedOf({ context }: ReceivedRequest): DecidedContext {
  if (!isDecided(context)) throw notFoundRefusal()
  return context
}

export function paramsOf(request: ReceivedRequest): Readonly<Record<string, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the router gives decoded strings by name
  return request.params as Readonly<Record<string, string>>
}

/**
 * Returns the engine that the path names, or the default engine. The list of all engines exists even without a default engine. Null
 * if the engine is unknown.
 */
export function engineOf(
  {
    engineName,
    isEngineNamed,
    operation,
  }: Pick<RequestContext, 'engineName' | 'isEngineNamed' | 'operation'>,
  engines: ReadonlyMap<string, EngineDependencies>,
): EngineDependencies | null {
  const isListOfAll = !isEngineNamed && operation?.handler === 'engine names'
  return engines.get(engineName) ?? (isListOfAll ? fallbackOf(engines) : null)
}

/** Returns the engine whose users authenticate the caller of an unknown engine. */
export function fallbackOf(engines: ReadonlyMap<string, EngineDependencies>): EngineDependencies {
  const [first] = engines.values()
  const engine = engines.get(DEFAULT_ENGINE) ?? first
  if (engine === undefined) throw new Error('No engine is configured')
  return engine
}

/** Returns whether the operation needs no credentials. It needs them if the engine is unknown, so that strangers do not learn which engines exist. */
export function isOpen({ engine, operation }: Pick<RequestContext, 'engine' | 'operation'>): boolean {
  return operation?.open !== undefined && engine !== null && engine.open.has(operation.open)
}

/** Returns whether no parameter is empty and no literal is spelt with `%`. The engine has no path of another form. */
export function isWellFormed(request: ReceivedRequest): boolean {
  const params = paramsOf(request)
  for (const name in params) if (params[name] === '') return false
  if (!request.url.includes('%')) return true
  return spellsLiterals(request.routeOptions.url ?? '', targetPathOf(request.url))
}

export function notFound(): never {
  throw notFoundRefusal()
}

function notFoundRefusal(): EngineRefusal {
  return refusalOf(404, 'NotFoundException', operatorText`HTTP 404 Not Found`)
}

/**
 * Returns the refusal of a method that the path does not have, or of a path outside the API.
 *
 * @param allow the methods of the path; null if it is outside the API
 */
export function noOperation(allow: string | null): EngineRefusal {
  if (allow === null) return notFoundRefusal()
  return refusalOf(405, 'NotAllowedException', operatorText`HTTP 405 Method Not Allowed`, { allow })
}

/** Returns whether the configured release of an engine has an operation. */
export function hasOperation(release: Release | null, { only }: Pick<Operation, 'only'>): boolean {
  return release === null || only === undefined || only.includes(release)
}

/**
 * Checks that the configured release of the engine has an operation.
 * @throws GatewayError GW_OPERATION_MISSING
 */
export function requireOperation(
  operation: Pick<Operation, 'id' | 'method' | 'template' | 'only'>,
  release: Release | null,
): void {
  if (hasOperation(release, operation)) return
  const { id, method, template } = operation
  const path = template.replaceAll(/:(\w+)/g, '{$1}')
  throw new GatewayError('GW_OPERATION_MISSING', {
    message: ownText(`${release} does not have the operation ${id} (${method} ${path})`),
  })
}

/** Returns the refusal in the form of the engine's authentication filter. */
export function unknownEngine(name: string): EngineRefusal {
  return refusalOf(404, 'InvalidRequestException', {
    caller: `Process engine ${name} not available`,
    operator: operatorText`no engine of this name is configured`,
  })
}

function refusalOf(status: number, type: string, text: RefusalText, headers = {}): EngineRefusal {
  return jsonRefusalOf(
    status,
    { type, message: callerTextOf(text), code: null },
    operatorTextOf(text),
    headers,
  )
}

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
