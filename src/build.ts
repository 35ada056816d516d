import { buildNews, monotonicMs, takeCache } from './build-cache.ts'
import type { Cache } from './cache/cache.ts'
import type { News } from './cache/news.ts'
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
import { tellingHeir } from './inheritance.ts'
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
import { createUpstream, type Upstream } from './proxy/upstream.ts'
import { createOnNodeChange, endPolls, type EngineNodes, withNodes } from './running-nodes.ts'
import { createRunningSources, type RunningSources } from './running-sources.ts'
import { openSourceFiles, type SourceFiles } from './source-files.ts'
import { createSources, type EngineSources } from './sources.ts'

export interface Built {
  readonly config: Config
  readonly parts: Parts
  readonly cache: Cache
  /** Reads and watches users and records from now on; resolves after the first reading, or after `withinMs`. */
  readonly start: RunningSources['start']
  readonly readiness: RunningSources['readiness']
  readonly missing: RunningSources['missing']
  /** Is in force from now on: what it holds is its own, and its state is what scrapes show. */
  readonly enter: () => void
  /** What passes through here is told to the set that takes its place; null: none does. */
  readonly tell: (heir: Built | null) => void
  /** Reads and hears no more of users and records, and ends what waits for work. What else is under way goes on with what was read. */
  readonly stop: RunningSources['close']
  /** Answers all that wait for work, and those that are still to come. */
  readonly endPolls: () => void
  /** Lets go of connections to engines and Redis, after what is under way. */
  readonly close: () => Promise<void>
}

export interface BuildOptions {
  readonly config: Config
  readonly log: Logger
  readonly version: string
  readonly isDraining: () => boolean
  /** The set that this one is to replace: its counts go on, and what it holds is taken over where it stays right. */
  readonly before?: Built
}

/** Builds everything the gateway is made of. @throws ConfigError that names every problem of every file */
export async function build({ config, log, version, isDraining, before }: BuildOptions): Promise<Built> {
  const files = await openSourceFiles(config, log)
  const audit = buildAudit(config, log)
  const metrics = before?.parts.metrics ?? createMetrics({ version })
  const news = buildNews(config)
  const shared = { config, files, metrics, passwords: createPasswords(), news, log }
  const built = Object.entries(config.engines).map(([name, engineConfig]) =>
    buildEngine({ ...shared, name, engineConfig }),
  )
  const engines = new Map(built.map(({ parts }) => [parts.name, parts]))
  const { cache, ...taken } = takeCache({ config, metrics, log }, before ?? null)
  const running = runningOf(built, { files, news })
  let heir: Built | null = null
  const own = { config, operations: OPERATIONS, engines, cache, metrics, log, audit: audit.write, isDraining }
  return {
    config,
    parts: tellingHeir(own, () => heir?.parts ?? null),
    cache,
    start: running.start,
    readiness: running.readiness,
    missing: running.missing,
    enter: () => {
      taken.own()
      running.show(metrics)
    },
    tell: (to) => {
      heir = to
    },
    stop: running.close,
    endPolls: () => built.forEach(({ nodes }) => endPolls(nodes)),
    close: async () => {
      running.close()
      await Promise.all([taken.close(heir?.cache), ...built.map(({ close }) => close())])
      audit.close()
    },
  }
}

function runningOf(
  built: readonly BuiltEngine[],
  beside: { readonly files: SourceFiles; readonly news: News | null },
): RunningSources {
  const engines = new Map(
    built.map(({ parts: { name, authorization }, sources }) => [name, { sources, authorization }]),
  )
  return withNodes(
    createRunningSources({ ...beside, engines }),
    built.map(({ nodes }) => nodes),
  )
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
  readonly nodes: EngineNodes
  readonly close: () => Promise<void>
}

function buildEngine(options: EngineOptions): BuiltEngine {
  const { name, engineConfig, config, metrics } = options
  const { identity, authorization, validation, health } = settingsOf(config, engineConfig)
  const { credentials, host, service } = engineConfig
  const upstream = buildUpstream(options)
  const own = service === undefined ? upstream : upstream.withCredentials(service)
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
  return { parts, sources, nodes: { engine: name, own, health }, close: () => upstream.close() }
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
  const base = new URL(nodes[0]?.url ?? '').pathname.replace(/\/$/, '')
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

function buildUpstream({ name, engineConfig, config, metrics, log }: EngineOptions): Upstream {
  const { nodes, remoteName, host, credentials, service } = engineConfig
  const { connect, headers, body } = config.timeouts
  const { maxHold, perNode, waiting } = config.limits.longPolls
  return createUpstream({
    engine: name,
    nodes,
    ...(remoteName === undefined ? {} : { remoteName }),
    credentials,
    host,
    timeouts: { connectMs: connect, headersMs: headers, bodyMs: body },
    connections: config.limits.connections,
    polls: {
      maxHoldMs: maxHold,
      perNode,
      waiting,
      unlockAs: service ?? credentials,
      onEnd: (reason) => metrics.pollEnded(name, reason),
      onUnlock: (result) => metrics.pollUnlocked(name, result),
    },
    onAttempt: ({ node, result, status, seconds }) =>
      metrics.attempt({ engine: name, node, result, status }, seconds),
    onNodeChange: createOnNodeChange(name, { metrics, log }),
  })
}

function buildAudit(config: Config, log: Logger): AuditStream {
  const to = config.log.audit
  try {
    return openAudit({ to, log })
  } catch (cause) {
    throw new ConfigError('The configuration', [`log.audit: ${cause instanceof Error ? cause.message : to}`])
  }
}
