import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Cache, createCache } from '../cache/cache.ts'
import { createChangeBus, type ChangeBus } from '../redis/change-bus.ts'
import type { FloodListener } from '../redis/guarded-subscription.ts'
import { createRedisTier } from '../cache/redis-tier.ts'
import { IdempotencyStore } from '../idempotency/idempotency-store.ts'
import { createOwnTurns, createSharedTurns, type TurnTaker } from '../redis/shared-turns.ts'
import { createSharedValues } from '../redis/shared-values.ts'
import { createSigner } from '../redis/signature.ts'
import type { Config, EngineConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import type { Component } from '../component.ts'
import type { OpenValues } from './shared-shifts.ts'
import type { Handover } from './runtime.ts'

interface StoresComponent extends Component {
  readonly stores: Pick<Dependencies, 'cache' | 'idempotencyStore'>
}

/**
 * Takes over the entries of the previous runtime if they are still valid under the new configuration. Otherwise the new runtime
 * starts empty. The cache is not closed if a successor has taken it over.
 */
export function openStores(
  { config, metrics, log }: { readonly config: Config; readonly metrics: Metrics; readonly log: Logger },
  { before, successor }: Handover<'config' | 'cache' | 'idempotencyStore'>,
): StoresComponent {
  const previous = before !== null && hasSameOrigins(before.config, config) ? before.cache : null
  const cache = previous ?? buildCache(config, metrics, log)
  const idempotencyStore = buildIdempotencyStore(config, log, before?.idempotencyStore ?? null)
  let isOwn = previous === null
  return {
    stores: { cache, idempotencyStore },
    activate: () => {
      isOwn = true
      addGauges(metrics, { cache, idempotencyStore })
      if (config.cache.redis !== null) startCounts(metrics, Object.keys(config.engines))
    },
    close: () =>
      Promise.all([idempotencyStore?.close(), isOwn && successor()?.cache !== cache ? cache.close() : null]),
  }
}

function addGauges(metrics: Metrics, { cache, idempotencyStore }: StoresComponent['stores']): void {
  metrics.gauges(
    {
      name: 'gateway_redis_up',
      help: 'Whether Redis responds. There is no value if Redis is not configured.',
      labels: [],
    },
    () => [{ labels: {}, value: cache.shared === 'none' ? null : Number(cache.shared === 'up') }],
  )
  metrics.gauges(
    {
      name: 'gateway_redis_removes_keys',
      help: 'Whether Redis removes keys that have not expired when its memory is full. There is no value if this is unknown.',
      labels: [],
    },
    () => {
      const policy = idempotencyStore?.removalPolicy
      return [{ labels: {}, value: policy === undefined ? null : Number(policy !== null) }]
    },
  )
}

/** Results that alerts count. */
const ALARMING = ['unavailable', 'unstored', 'unreadable'] as const

/** Starts the counters of alerts at 0. Otherwise the first event creates the series and is not visible as an increase. */
function startCounts(metrics: Metrics, engines: readonly string[]): void {
  metrics.cache({ tier: 'redis', result: 'corrupt' }, 0)
  metrics.invalidMessage({}, 0)
  for (const channel of CHANNELS) metrics.redisPause({ channel }, 0)
  for (const engine of engines) for (const result of ALARMING) metrics.idempotent({ engine, result }, 0)
}

function buildCache(config: Config, metrics: Metrics, log: Logger): Cache {
  const { memory, redis } = config.cache
  return createCache({
    maxBytes: memory.maxBytes,
    redis:
      redis === null
        ? null
        : createRedisTier({
            redis,
            // Two gateways that share a Redis share cached responses only if they use the same engines.
            namespace: namespaceOf(config),
            signer: createSigner(config.cache.signingKeys),
            now: monotonicMs,
            log: (level, message, why) => log[level]({ why }, message),
            onFlood: floodListenerOf('evictions', metrics, log),
          }),
    now: monotonicMs,
    onEvent: (tier, result) => metrics.cache({ tier, result }),
  })
}

export function buildChangeBus(
  config: Config,
  metrics: Pick<Metrics, 'invalidMessage' | 'redisPause'>,
  log: Logger,
): ChangeBus | null {
  const { redis, signingKeys } = config.cache
  if (redis === null) return null
  return createChangeBus({
    redis,
    namespace: namespaceOf(config),
    signer: createSigner(signingKeys),
    now: monotonicMs,
    onInvalidMessages: () => {
      metrics.invalidMessage({})
      log.warn(
        'received Redis messages that are repeated or not signed by a key of cache.signingKeys; reading users and records again',
      )
    },
    onFlood: floodListenerOf('changes', metrics, log),
  })
}

/** The channels of a gateway in Redis: `changes` of users and records, and `evictions` of cached responses. */
const CHANNELS = ['changes', 'evictions'] as const

function floodListenerOf(
  channel: (typeof CHANNELS)[number],
  metrics: Pick<Metrics, 'redisPause'>,
  log: Logger,
): FloodListener {
  return {
    onPause: (isFirst) => {
      metrics.redisPause({ channel })
      if (isFirst)
        log.warn(
          { channel },
          'Redis delivers too many invalid messages; its messages are not read until they end, and changes of other gateways take effect within 5 s',
        )
    },
    onRecovery: () =>
      log.info({ channel }, 'the invalid messages from Redis have ended; its messages are read again'),
  }
}

/**
 * Returns how to connect to the values that all gateways with the same `idempotency.namespace` share. Null if Redis is not configured.
 * The namespace does not include the nodes, so that a rollout that changes the nodes changes no value.
 */
export function sharedValuesOf({ cache, idempotency: { namespace } }: Config): OpenValues | null {
  const { redis, signingKeys } = cache
  if (redis === null) return null
  const signer = createSigner(signingKeys)
  return (events) => createSharedValues({ redis, namespace, signer, now: monotonicMs, ...events })
}

/** Creates the turns for nudges. Processes that share a Redis share the turns; otherwise each process has its own. */
export function buildTurns(config: Config): TurnTaker {
  const { redis } = config.cache
  const isNeeded =
    config.limits.longPolls.nudge !== false &&
    Object.values(config.engines).some(({ nodes }) => nodes.filter(({ drain }) => !drain).length > 1)
  return redis === null || !isNeeded
    ? createOwnTurns(monotonicMs)
    : createSharedTurns({ redis, namespace: namespaceOf(config), now: monotonicMs })
}

/**
 * Creates the store of idempotency keys. Unlike cached responses, keys must survive a change of nodes: while a change is rolled
 * out, gateways with the old nodes and gateways with the new ones receive retries of the same requests. For this reason, the
 * namespace does not include the nodes.
 */
function buildIdempotencyStore(
  { cache, idempotency: { keep, namespace } }: Config,
  log: Logger,
  before: IdempotencyStore | null,
): IdempotencyStore | null {
  if (cache.redis === null) return null
  const signer = createSigner(cache.signingKeys)
  return new IdempotencyStore({
    redis: cache.redis,
    namespace,
    signer,
    keepMs: keep,
    now: monotonicMs,
    openClaims: before?.openClaims,
    onRemovalPolicy: (policy) => {
      if (policy !== null)
        log.warn(
          { policy },
          'Redis removes keys when its memory is full; a repeated request with an Idempotency-Key may then be executed again, and the shares of a move may be lost',
        )
    },
  })
}

/**
 * Returns whether a response that was cached under one configuration is valid under the other. The key of an entry has the
 * gateway's name of the engine, so the name must refer to the same engine, called with the same credentials. Permissions do not
 * matter: they are decided before the cache is read.
 */
function hasSameOrigins(one: Config, other: Config): boolean {
  return isDeepStrictEqual(originsOf(one), originsOf(other))
}

function originsOf({ cache, basePath, engines }: Config): unknown {
  const origins = Object.entries(engines).map(([name, { nodes, remoteName, host, credentials }]) => [
    name,
    [urlsOf(nodes), remoteName, host, credentials],
  ])
  return [cache, basePath, origins]
}

export function monotonicMs(): number {
  return performance.now()
}

export function namespaceOf({ engines }: Config): string {
  const names = Object.entries(engines).map(([name, { nodes, remoteName }]) => [
    name,
    urlsOf(nodes),
    remoteName,
  ])
  return hash('sha1', JSON.stringify(names), 'base64url')
}

/** Returns the URLs without the weights: the share of requests that a node gets does not change the responses. */
function urlsOf(nodes: EngineConfig['nodes']): readonly string[] {
  return nodes.map(({ url }) => url)
}
