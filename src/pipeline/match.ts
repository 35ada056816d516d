import { targetPathOf } from '../request/target.ts'
import type { FastifyRequest } from 'fastify'
import { createCertificateUser } from '../request/client-certificate.ts'
import type { Principal } from '../request/principal.ts'
import { type EngineRefusal, GatewayError, jsonRefusalOf } from '../errors.ts'
import { isFromForeignPage } from '../request/origin.ts'
import type { Application, EngineParts, Parts } from './parts.ts'
import type { LocatedContext, MatchedContext, RequestContext } from './context.ts'
import { spellsLiterals } from './routes.ts'

/** The engine that a path without a name means. */
export const DEFAULT_ENGINE = 'default'

/** @throws EngineRefusal 404 where a stage before was left out: then nothing is known of the request */
export function locatedOf({ context }: FastifyRequest): LocatedContext {
  if (!isLocated(context)) throw notFoundRefusal()
  return context
}

/** @throws as locatedOf */
export function matchOf({ context }: FastifyRequest): MatchedContext {
  if (!isMatched(context)) throw notFoundRefusal()
  return context
}

function isLocated(context: RequestContext): context is LocatedContext {
  const { engine, operation, permit, principal } = context
  return engine !== null && operation !== null && permit !== null && principal !== null
}

function isMatched(context: RequestContext): context is MatchedContext {
  return context.accessRequest !== null && isLocated(context)
}

export function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the router gives decoded strings by name
  return request.params as Readonly<Record<string, string>>
}

/** The engine that the path names, or the default; the list of all engines is there though none is the default. Null: unknown. */
export function engineOf(
  { engineName, operation }: RequestContext,
  engines: ReadonlyMap<string, EngineParts>,
): EngineParts | null {
  const isListOfAll = engineName === null && operation?.answer === 'engine-names'
  return engines.get(engineName ?? DEFAULT_ENGINE) ?? (isListOfAll ? fallbackOf(engines) : null)
}

/** Whose users are asked about a caller of an unknown engine. */
export function fallbackOf(engines: ReadonlyMap<string, EngineParts>): EngineParts {
  const [first] = engines.values()
  const engine = engines.get(DEFAULT_ENGINE) ?? first
  if (engine === undefined) throw new Error('No engine is configured')
  return engine
}

/** Whether everybody may ask this, without credentials. Of an engine that is not there nothing is open: strangers do not learn that. */
export function isOpen({ engine, operation }: Pick<RequestContext, 'engine' | 'operation'>): boolean {
  return operation?.open !== undefined && engine !== null && engine.open.has(operation.open)
}

/** No parameter is empty, and no literal is spelt with `%`: the engine has no such path. */
export function isWellFormed(request: FastifyRequest): boolean {
  const params = paramsOf(request)
  for (const name in params) if (params[name] === '') return false
  if (!request.url.includes('%')) return true
  return spellsLiterals(request.routeOptions.url ?? '', targetPathOf(request.url))
}

export function notFound(): never {
  throw notFoundRefusal()
}

function notFoundRefusal(): EngineRefusal {
  return refusalOf(404, 'NotFoundException', 'HTTP 404 Not Found')
}

/** A path that has other methods, or no path of the API's. */
export function noOperation({ routeOptions }: FastifyRequest): EngineRefusal {
  const { methods: allow } = routeOptions.config
  if (allow === undefined) return notFoundRefusal()
  return refusalOf(405, 'NotAllowedException', 'HTTP 405 Method Not Allowed', { allow })
}

/** As the engine's own authentication filter says it. */
export function unknownEngine(name: string | null): EngineRefusal {
  return refusalOf(404, 'InvalidRequestException', `Process engine ${name ?? DEFAULT_ENGINE} not available`)
}

function refusalOf(status: number, type: string, message: string, headers = {}): EngineRefusal {
  return jsonRefusalOf(status, { type, message, code: null }, message, headers)
}

/**
 * Who a request's credentials, or else the connection's certificate, say that the caller is. Credentials count first: a
 * service may connect by a certificate of its own and act for a user.
 */
export function createPrincipalOf({ listen }: Pick<Parts['config'], 'listen'>) {
  const certificateUser = createCertificateUser(listen.tls?.clients ?? null)
  return (
    authenticator: EngineParts['authenticator'],
    { headers, raw, context }: FastifyRequest,
  ): Principal | Promise<Principal> => {
    const { authorization } = headers
    // An empty one is none.
    const user = !authorization ? certificateUser(raw.socket) : null
    return user === null
      ? authenticator.authenticate(authorization, context.address)
      : authenticator.vouchFor(user)
  }
}

/**
 * For a prefix that passes through: any caller whom the default engine's users know, or whoever asks. CORS is the application's own:
 * the section `cors` says nothing of its answers, and its origins may not write there.
 */
export function authenticatePassthrough(
  { engines, config }: Pick<Parts, 'engines' | 'config'>,
  { prefix, auth }: Pick<Application, 'prefix' | 'auth'>,
): (request: FastifyRequest) => Promise<void> {
  const principalOf = createPrincipalOf(config)
  const allowedOrigins = new Set(config.listen.allowedOrigins)
  return async function authenticate(request) {
    const { authenticator } = fallbackOf(engines)
    const { context } = request
    context.passthrough = prefix
    context.addedHeaders = null
    if (config.cors !== null && isFromForeignPage(request.raw, request.headers.host ?? '', allowedOrigins))
      throw new GatewayError('GW_FOREIGN_ORIGIN')
    context.stage = 'authenticate'
    if (auth === 'gateway') context.principal = await principalOf(authenticator, request)
  }
}
