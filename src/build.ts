import { hash } from 'node:crypto'
import { createCache } from './cache/cache.ts'
import { createRedisTier } from './cache/redis.ts'
import { type Config, ConfigError, type EngineConfig, settingsOf } from './config.ts'
import { GatewayError } from './errors.ts'
import type { Logger } from './log.ts'
import { createMetrics, type Metrics } from './metrics/registry.ts'
import { OPERATIONS } from './operations/all.ts'
import type { EngineParts, Parts } from './parts.ts'
import { createAuthenticator } from './policy/authenticate.ts'
import type { AuthorizeOptions } from './policy/authorize.ts'
import { createLookUp, type ReadEngine } from './policy/lookup.ts'
import { createPasswords, type Passwords } from './policy/password.ts'
import { createPermit, type PermitOptions } from './policy/permit.ts'
import { readRecords } from './policy/record-file.ts'
import { indexRecords } from './policy/records.ts'
import { createRowFacts } from './policy/row-facts.ts'
import { createSignalFinder } from './policy/signals.ts'
import { readUsers, type Users } from './policy/users.ts'
import type { RequestPolicy } from './proxy/headers.ts'
import { createUpstream, type Upstream } from './proxy/upstream.ts'

/** A look-up's answer beyond this is no entity. */
const MAX_LOOKUP_BYTES = 16 * 1024 ** 2

export interface Built {
  readonly parts: Parts
  /** Lets go of connections to engines and Redis, after what is under way. */
  readonly close: () => Promise<void>
}

export interface BuildOptions {
  readonly config: Config
  readonly log: Logger
  readonly version: string
  readonly isDraining: () => boolean
}

/** Builds everything the gateway is made of. @throws ConfigError that names every problem of every file */
export async function build({ config, log, version, isDraining }: BuildOptions): Promise<Built> {
  const sources = await readSources(config)
  const metrics = createMetrics({ version })
  const passwords = createPasswords()
  const engines = new Map(
    Object.entries(config.engines).map(([name, engineConfig]) => [
      name,
      buildEngine({ name, engineConfig, config, sources, metrics, passwords }),
    ]),
  )
  const cache = buildCache(config, metrics, log)
  return {
    parts: { config, operations: OPERATIONS, engines, cache, metrics, log, isDraining },
    close: async () => {
      await Promise.all([cache.close(), ...[...engines.values()].map(({ upstream }) => upstream.close())])
    },
  }
}

interface Sources {
  readonly users: ReadonlyMap<string, Users>
  readonly records: ReadonlyMap<string, Awaited<ReturnType<typeof readRecords>>>
}

/** Reads each file once, however many engines share it. */
async function readSources(config: Config): Promise<Sources> {
  const settings = Object.values(config.engines).map((engineConfig) => settingsOf(config, engineConfig))
  const problems: string[] = []
  const readAll = async <T>(
    files: readonly string[],
    read: (file: string) => Promise<T>,
  ): Promise<Map<string, T>> => {
    const contents = new Map<string, T>()
    for (const file of new Set(files)) {
      try {
        contents.set(file, await read(file))
      } catch (error) {
        problems.push(...problemsOf(file, error))
      }
    }
    return contents
  }
  const users = await readAll(
    settings.map(({ identity }) => identity.file),
    readUsers,
  )
  const records = await readAll(
    settings.map(({ authorization }) => authorization.records.file),
    readRecords,
  )
  if (problems.length > 0) throw new ConfigError('The configuration', problems)
  return { users, records }
}

function problemsOf(file: string, error: unknown): string[] {
  if (error instanceof ConfigError) return error.problems.map((problem) => `${file}: ${problem}`)
  return [`${file}: ${error instanceof Error ? error.message : String(error)}`]
}

interface EngineOptions {
  readonly name: string
  readonly engineConfig: EngineConfig
  readonly config: Config
  readonly sources: Sources
  readonly metrics: Metrics
  readonly passwords: Passwords
}

function buildEngine({
  name,
  engineConfig,
  config,
  sources,
  metrics,
  passwords,
}: EngineOptions): EngineParts {
  const settings = settingsOf(config, engineConfig)
  const users = sources.users.get(settings.identity.file)
  const list = sources.records.get(settings.authorization.records.file)
  if (users === undefined || list === undefined)
    throw new Error(`The sources of engine ${name} were not read`)
  const upstream = buildUpstream({ name, engineConfig, config, metrics })
  const records = indexRecords(list, settings.authorization)
  const options = authorizeOptionsOf(upstream, { ...settings.authorization, records: () => records })
  const requestPolicy: RequestPolicy = { credentials: engineConfig.credentials, host: engineConfig.host }
  return {
    name,
    upstream,
    authenticator: createAuthenticator({
      engine: name,
      users: () => users,
      ttlMs: settings.identity.remember,
      passwords,
      onResult: (result) => metrics.authentication(name, result),
    }),
    permits: new Map(OPERATIONS.map((operation) => [operation.id, createPermit(operation, options)])),
    authorization: settings.authorization.mode,
    validation: settings.validation.mode,
    opened: new Set(settings.validation.allow),
    requestPolicy,
    remotePrefix: remotePrefixOf(engineConfig),
  }
}

function remotePrefixOf({ nodes, remoteName }: EngineConfig): string {
  const base = new URL(nodes[0] ?? '').pathname.replace(/\/$/, '')
  return remoteName === undefined ? base : `${base}/engine/${encodeURIComponent(remoteName)}`
}

function authorizeOptionsOf(
  upstream: Upstream,
  settings: Pick<AuthorizeOptions, 'records' | 'adminGroups' | 'adminUsers'>,
): PermitOptions {
  const read = readerOf(upstream)
  const lookUp = createLookUp({ read })
  const findEach = createSignalFinder({ read, lookUp })
  const readRowFacts = createRowFacts({ read, lookUp })
  return { ...settings, historicInstancePermissions: false, lookUp, findEach, readRowFacts }
}

/** Reads of the gateway's own, for decisions: asked without a caller, like everything a bare engine is asked. */
function readerOf(upstream: Upstream): ReadEngine {
  return async function readEngine(path) {
    const hop = {
      method: 'GET',
      path,
      headers: { accept: 'application/json' },
      body: null,
      retry: 'always',
    } as const
    const { status, body } = await upstream.fetch(hop, MAX_LOOKUP_BYTES)
    if (status === 200) return JSON.parse(body.toString('utf8'))
    // Some entities that do not exist are a 400 at the engine.
    if (status === 404 || status === 400) return null
    throw new GatewayError('GW_UPSTREAM_INVALID', { message: `The engine answered a look-up with ${status}` })
  }
}

function buildUpstream({
  name,
  engineConfig,
  config,
  metrics,
}: Omit<EngineOptions, 'sources' | 'passwords'>): Upstream {
  const { nodes, remoteName, credentials, host } = engineConfig
  const { connect, headers, body } = config.timeouts
  return createUpstream({
    engine: name,
    nodes,
    ...(remoteName === undefined ? {} : { remoteName }),
    credentials,
    host,
    timeouts: { connectMs: connect, headersMs: headers, bodyMs: body },
    connections: config.limits.connections,
    onAttempt: ({ node, result, status, seconds }) =>
      metrics.attempt({ engine: name, node, result, status }, seconds),
  })
}

function buildCache(config: Config, metrics: Metrics, log: Logger) {
  const { memory, redis } = config.cache
  return createCache({
    maxBytes: memory.maxBytes,
    redis:
      redis === null
        ? null
        : createRedisTier({
            url: redis,
            // Two gateways that share a Redis share answers only if they stand before the same engines.
            namespace: namespaceOf(config),
            now: monotonicMs,
            log: (level, message, why) => log[level]({ why }, message),
          }),
    now: monotonicMs,
    onEvent: (tier, result) => metrics.cache(tier, result),
  })
}

function monotonicMs(): number {
  return performance.now()
}

function namespaceOf({ engines }: Config): string {
  const names = Object.entries(engines).map(([name, { nodes, remoteName }]) => [name, nodes, remoteName])
  return hash('sha1', JSON.stringify(names), 'base64url')
}
