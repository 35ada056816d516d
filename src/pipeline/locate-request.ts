import type { Release } from '../operations/published/releases.ts'
import type { Operation } from '../operations/table.ts'
import { targetPathOf } from '../request/target.ts'
import { GatewayError, ownText } from '../errors.ts'
import type { EngineDependencies } from './dependencies.ts'
import type { ReceivedRequest, RequestContext } from './context.ts'
import { spellsLiterals } from './routes.ts'

/** Name of the engine for a path without an engine's name. */
export const DEFAULT_ENGINE = 'default'

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
