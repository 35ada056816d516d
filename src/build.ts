import { hash } from 'node:crypto'
import { createCache } from './cache/cache.ts'
import { createNews, type News } from './cache/news.ts'
import { createRedisTier } from './cache/redis.ts'
import {
  type AuthorizationConfig,
  type Config,
  ConfigError,
  type EngineConfig,
  settingsOf,
} from './config.ts'
import type { Logger } from './log.ts'
import { type AuditStream, openAudit } from './metrics/audit.ts'
import { createMetrics, type Metrics } from './metrics/registry.ts'
import { OPERATIONS } from './operations/all.ts'
import { askerOf, readerOf } from './own-hops.ts'
import type { EngineParts, Parts } from './parts.ts'
import { createAuthenticator } from './policy/authenticate.ts'
import { createExplainRequest } from './policy/explain-request.ts'
import { createCaseProbe } from './policy/cases.ts'
import { createImplied } from './policy/implied.ts'
import { createLookUp } from './policy/lookup.ts'
import { createPasswords, type Passwords } from './policy/password.ts'
import { createPermit, type PermitOptions } from './policy/permit.ts'
import { createRowFacts } from './policy/row-facts.ts'
import { createFindOut } from './policy/find-out.ts'
import { createFindEach } from './policy/members.ts'
import type { Credentials } from './proxy/headers.ts'
import { createUpstream, type Upstream } from './proxy/upstream.ts'
import { createRunningSources, type RunningSources } from './running-sources.ts'
import { openSourceFiles, type SourceFiles } from './source-files.ts'
import { createSources, type EngineSources } from './sources.ts'

export interface Built {
  readonly parts: Parts
  /** Reads and watches users and records from now on; resolves after the first reading, or soon. */
  readonly start: () => Promise<void>
  readonly readiness: RunningSources['readiness']
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
  const files = await openSourceFiles(config, log)
  const audit = buildAudit(config, log)
  const metrics = createMetrics({ version })
  const news = buildNews(config)
  const shared = { config, files, metrics, passwords: createPasswords(), news, log }
  const built = Object.entries(config.engines).map(([name, engineConfig]) =>
    buildEngine({ ...shared, name, engineConfig }),
  )
  const engines = new Map(built.map(({ parts }) => [parts.name, parts]))
  const cache = buildCache(config, metrics, log)
  const running = createRunningSources({
    engines: new Map(
      built.map(({ parts: { name, authorization }, sources }) => [name, { sources, authorization }]),
    ),
    files,
    news,
    metrics,
  })
  return {
    parts: { config, operations: OPERATIONS, engines, cache, metrics, log, audit: audit.write, isDraining },
    start: running.start,
    readiness: running.readiness,
    close: async () => {
      running.close()
      await Promise.all([cache.close(), ...built.map(({ close }) => close())])
      audit.close()
    },
  }
}

interface EngineOptions {
  readonly name: string
  readonly engineConfig: EngineConfig
  readonly config: Config
  readonly files: SourceFiles
  readonly metrics: Metrics
  readonly passwords: Passwords
  readonly news: News | null
  readonly log: Logger
}

interface BuiltEngine {
  readonly parts: EngineParts
  readonly sources: EngineSources
  readonly close: () => Promise<void>
}

function buildEngine(options: EngineOptions): BuiltEngine {
  const { name, engineConfig, config, metrics } = options
  const { identity, authorization, validation } = settingsOf(config, engineConfig)
  const { credentials, host, service } = engineConfig
  const upstream = buildUpstream(options, credentials)
  const own = service === undefined ? upstream : buildUpstream(options, service)
  const sources = buildSources(options, own)
  const permit = permitOptionsOf(own, sources, authorization)
  const parts: EngineParts = {
    name,
    upstream,
    authenticator: createAuthenticator({
      engine: name,
      source: sources.identity,
      ttlMs: identity.remember,
      failureTtlMs: identity.rememberFailures,
      throttle: sources.throttle,
      onResult: (result) => metrics.authentication(name, result),
    }),
    principalOf: sources.identity.principalOf,
    changed: sources.changed,
    permits: new Map(OPERATIONS.map((operation) => [operation.id, createPermit(operation, permit)])),
    explain: createExplainRequest(permit),
    authorization: authorization.mode,
    validation: validation.mode,
    opened: new Set(validation.allow),
    requestPolicy: { credentials, host },
    remotePrefix: remotePrefixOf(engineConfig),
  }
  const upstreams = own === upstream ? [upstream] : [upstream, own]
  const close = async () => void (await Promise.all(upstreams.map((each) => each.close())))
  return { parts, sources, close }
}

function buildSources(
  { name, engineConfig, config, files, passwords, news, log }: EngineOptions,
  own: Upstream,
): EngineSources {
  return createSources({
    ...settingsOf(config, engineConfig),
    engine: name,
    files,
    ask: askerOf(own),
    passwords,
    publish: (topic, about) => news?.publish(`${name} ${topic}`, about) ?? Promise.resolve(),
    log,
  })
}

function remotePrefixOf({ nodes, remoteName }: EngineConfig): string {
  const base = new URL(nodes[0] ?? '').pathname.replace(/\/$/, '')
  return remoteName === undefined ? base : `${base}/engine/${encodeURIComponent(remoteName)}`
}

function permitOptionsOf(
  own: Upstream,
  { records, identity }: EngineSources,
  { adminGroups, adminUsers, tenants, implied }: AuthorizationConfig,
): PermitOptions {
  const read = readerOf(own)
  const lookUp = createLookUp({ read })
  return {
    records: records.current,
    adminGroups,
    adminUsers,
    historicInstancePermissions: false,
    lookUp,
    findEach: createFindEach({ read, lookUp }),
    findOut: createFindOut({ read, ask: askerOf(own) }),
    readRowFacts: createRowFacts({ read, lookUp }),
    hasCases: createCaseProbe(read, monotonicMs),
    implied: implied.tasks ? createImplied(read) : null,
    impliesIdentity: implied.identity,
    groupsOf: identity.groupsOf,
    checksTenants: tenants === 'check',
  }
}

function buildUpstream(
  { name, engineConfig, config, metrics }: EngineOptions,
  credentials: Credentials,
): Upstream {
  const { nodes, remoteName, host } = engineConfig
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

function buildNews(config: Config): News | null {
  const url = config.cache.redis
  return url === null ? null : createNews({ url, namespace: namespaceOf(config), now: monotonicMs })
}

function buildAudit(config: Config, log: Logger): AuditStream {
  const to = config.log.audit
  try {
    return openAudit({ to, log })
  } catch (cause) {
    throw new ConfigError('The configuration', [`log.audit: ${cause instanceof Error ? cause.message : to}`])
  }
}

function monotonicMs(): number {
  return performance.now()
}

function namespaceOf({ engines }: Config): string {
  const names = Object.entries(engines).map(([name, { nodes, remoteName }]) => [name, nodes, remoteName])
  return hash('sha1', JSON.stringify(names), 'base64url')
}
