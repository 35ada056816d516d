import { pathText } from '../operations/published/declared-names.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { type Config, settingsOf } from '../config/config.ts'
import type { RedisNode, RedisSettings } from '../config/redis-types.ts'
import { pingRedis } from '../redis/ping.ts'
import { bodyValue } from '../request/body.ts'
import { createDateFormat } from '../request/date-format.ts'
import { jsonIn, jsonOf } from '../request/engine-request.ts'
import { askerOf } from './engine-client.ts'
import type { WatchedNodes } from './running-nodes.ts'
import type { ConnectionCheck } from './runtime.ts'
import { askIssuer, issuerSettingsOf } from './token-issuers.ts'

type ConnectedNodes = Pick<WatchedNodes, 'engine' | 'own'>

/**
 * Returns a check for each node, source, token issuer and Redis of a configuration. A check sends a request that changes nothing.
 * Applications of `passthrough` without a `probe` are not checked because no path is known to request. The collector of traces is
 * not checked either.
 */
export function connectionChecksOf(
  config: Config,
  engines: readonly ConnectedNodes[],
  applications: readonly ConnectedNodes[],
): readonly ConnectionCheck[] {
  return [
    ...engines.flatMap((engine) =>
      nodeChecks(engine, async (version, withinMs) => {
        await checkDateFormat(engine, config.engines[engine.engine]?.dateFormat, withinMs / 4)
        return `version ${version ?? 'unknown'}`
      }),
    ),
    ...probedOf(config, applications).flatMap((application) =>
      nodeChecks(application, async () => 'answers'),
    ),
    ...engines.flatMap((engine) => sourceChecks(config, engine)),
    ...issuerChecks(config),
    ...redisChecks(config),
  ]
}

function probedOf({ passthrough }: Config, applications: readonly ConnectedNodes[]) {
  const probed = new Set(passthrough.flatMap(({ prefix, probe }) => (probe === undefined ? [] : [prefix])))
  return applications.filter(({ engine }) => probed.has(engine))
}

function nodeChecks(
  { engine, own }: ConnectedNodes,
  describe: (version: string | null, withinMs: number) => Promise<string>,
): readonly ConnectionCheck[] {
  return own.reachable().map(({ node, isDrained, checkConnection }) => ({
    what: `node of ${engine}`,
    address: node,
    run: async (withinMs) => {
      const version = await checkConnection(withinMs)
      return [await describe(version, withinMs), ...(isDrained ? ['drained'] : [])].join(', ')
    },
  }))
}

const SCHEMA_LOG = '/schema/log?maxResults=1'

/**
 * Compares the date of the database schema, which every engine has, with the configured format. The comparison is skipped if the
 * engine does not show the date or if the gateway cannot parse the format.
 * @throws Error if the engine writes dates in another format
 */
async function checkDateFormat(
  { own }: Pick<ConnectedNodes, 'own'>,
  pattern: string | undefined,
  headersMs: number,
): Promise<void> {
  const { toMs, format } = createDateFormat(pattern)
  if (format(0) === null) return
  const shown = askerOf(own)({ method: 'GET', path: SCHEMA_LOG, limitBytes: MAX_LIST_BYTES, headersMs })
    .then(({ status, body }) => (status === 200 ? bodyValue(jsonIn(body), '0.timestamp') : undefined))
    .catch(() => undefined)
  // Another node may receive this request. If it does not respond, that must not count as a failure of this node.
  const text = await Promise.race([shown, delay(headersMs, undefined, { ref: false })])
  if (typeof text === 'string' && toMs(text) === null)
    throw new Error(
      `the engine writes dates as ${text.slice(0, MAX_DATE_CHARS)}: set dateFormat to the engine's format`,
    )
}

const MAX_DATE_CHARS = 64

/** Requests for a single item of the lists that are otherwise read completely or for each user. */
const LISTS = { users: '/user?maxResults=1', records: '/authorization?maxResults=1' } as const
const MAX_LIST_BYTES = 64 * 1024

function sourceChecks(config: Config, { engine, own }: ConnectedNodes): readonly ConnectionCheck[] {
  const engineConfig = config.engines[engine]
  if (engineConfig === undefined) return []
  const { identity, authorization } = settingsOf(config, engineConfig)
  const sources = { users: identity.source, records: authorization.records.source }
  const address = own.nodes()[0]?.node ?? ''
  return (['users', 'records'] as const)
    .filter((source) => sources[source] === 'engine')
    .map((source) => ({
      what: `${source} of ${engine}`,
      address: address + LISTS[source],
      run: async (headersMs) => {
        const path = LISTS[source]
        const response = await askerOf(own)({ method: 'GET', path, limitBytes: MAX_LIST_BYTES, headersMs })
        const list = jsonOf(response, pathText(path))
        if (!Array.isArray(list)) throw new Error('the response is not a list')
        return list.length === 0 ? 'the list is empty, or the account may not see any item' : 'readable'
      },
    }))
}

/** Returns one check for each issuer, even if several engines accept its tokens. */
function issuerChecks(config: Config): readonly ConnectionCheck[] {
  const byAddress = new Map(
    issuerSettingsOf(config).map((setting) => [
      `${setting.name} ${setting.jwksUri ?? setting.issuer}`,
      setting,
    ]),
  )
  return [...byAddress.values()].map((setting) => ({
    what: `issuer ${setting.name}`,
    address: setting.jwksUri ?? setting.issuer,
    run: (withinMs) => askIssuer(setting, withinMs),
  }))
}

function redisChecks({ cache: { redis } }: Config): readonly ConnectionCheck[] {
  if (redis === null) return []
  const run = async (withinMs: number) => {
    await pingRedis(redis, withinMs)
    return 'PONG'
  }
  return [{ what: 'redis', address: addressOf(redis), run }]
}

/** Returns the address without credentials and query, because either may contain a password. */
function addressOf({ url, sentinel, cluster }: RedisSettings): string {
  if (sentinel !== undefined) return `${sentinel.master} of ${listed(sentinel.nodes)}`
  if (url === undefined) return listed(cluster?.nodes ?? [])
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

function listed(nodes: readonly RedisNode[]): string {
  return nodes.map(({ host, port }) => `${host}:${port}`).join(', ')
}
