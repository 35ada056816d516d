import { z } from 'zod'
import { HOST } from './host-pattern.ts'
import type { RedisNode, RedisSettings } from './redis-types.ts'
import { clientTls } from './tls-settings.ts'
import { wholeNumber } from './values.ts'

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const MAX_NODES = 64
/** The largest number of databases that a Redis server can have. */
const MAX_DATABASE = 2 ** 31 - 1

const URL_NEEDED = 'a redis:// or rediss:// URL is needed'
const FORM_NEEDED = 'a redis:// or rediss:// URL, { url }, { sentinel }, { cluster } or null is needed'
const urlOr = (needed: string) =>
  z
    .url({ protocol: /^rediss?$/, error: needed })
    .refine((text) => !/^rediss?:(?!\/\/)/i.test(text), needed)
    .meta({ title: '`redis://` or `rediss://` URL' })

const nodesOf = (defaultPort: number) =>
  z
    .array(
      z
        .string()
        .refine(
          (text) => HOST.test(text) && isPort(portOf(text, defaultPort)),
          'write it like NAME or NAME:PORT',
        )
        .meta({ title: '`NAME` or `NAME:PORT`' })
        .transform((text): RedisNode => ({ host: hostOf(text), port: portOf(text, defaultPort) })),
    )
    .min(1, 'at least one node is needed')
    .max(MAX_NODES, `at most ${MAX_NODES} nodes are permitted`)

const username = z.string().min(1, 'must not be empty').optional()
const password = z.string().min(1, 'must not be empty').optional()
const PASSWORD_NEEDED = { path: ['password'], error: 'is required if username is set' }
const hasPassword = (account: {
  readonly username?: string | undefined
  readonly password?: string | undefined
}) => account.username === undefined || account.password !== undefined

const sentinel = z
  .strictObject({
    nodes: nodesOf(SENTINEL_PORT).describe(
      `The sentinels. The gateway queries them in this order. The default port is ${SENTINEL_PORT}.`,
    ),
    master: z
      .string()
      .min(1, 'must not be empty')
      .describe('The name of the master in the configuration of the sentinels, often `mymaster`.'),
    username: username.describe('The user name for the sentinels, if they require one.'),
    password: password.describe(
      'The password for the sentinels. Use `${file:…}` to keep it out of this file.',
    ),
    tls: clientTls
      .optional()
      .describe(
        'TLS for connections to the sentinels, version 1.2 or later. `{}` trusts the certificates that Node.js trusts.',
      ),
  })
  .refine(hasPassword, PASSWORD_NEEDED)

const FORMS = ['url', 'sentinel', 'cluster'] as const

const redisObject = z
  .strictObject({
    url: urlOr(URL_NEEDED).optional().describe('The URL of one server. `rediss://` uses TLS.'),
    sentinel: sentinel
      .optional()
      .describe(
        'Finds the current master through sentinels. After a failover, the gateway looks up the new master.',
      ),
    cluster: z
      .strictObject({
        nodes: nodesOf(REDIS_PORT).describe(
          `Some nodes of the cluster, from which the gateway finds the others. The default port is ${REDIS_PORT}. List several nodes: one available node is enough.`,
        ),
      })
      .optional()
      .describe('A Redis Cluster.'),
    username: username.describe('The user name (ACL) for the servers that store data.'),
    password: password.describe(
      'The password for the servers that store data. Use `${file:…}` to keep it out of this file.',
    ),
    database: wholeNumber(0, MAX_DATABASE)
      .optional()
      .describe(
        'The number of the database, only with `sentinel`. The default is 0. With `url`, the number is the path of the URL.',
      ),
    tls: clientTls
      .optional()
      .describe(
        'TLS for connections to the servers that store data, version 1.2 or later. `{}` trusts the certificates that Node.js trusts. ' +
          'With `url`, it is accepted only if the URL begins with `rediss://`. The files are read again for new connections.',
      ),
  })
  .refine((redis) => FORMS.filter((form) => redis[form] !== undefined).length === 1, {
    error: 'exactly one of url, sentinel, cluster is needed',
    abort: true,
  })
  .refine(({ url, tls: own }) => url === undefined || own === undefined || /^rediss:/i.test(url), {
    path: ['tls'],
    error: 'needs a rediss:// URL',
  })
  .refine(({ url, password: own }) => url === undefined || own === undefined || !hasCredentials(url), {
    path: ['password'],
    error: 'is also set in url: set only one of them',
  })
  .refine(({ sentinel: own, database }) => database === undefined || own !== undefined, {
    path: ['database'],
    error:
      'can be set only with sentinel: a URL contains the database as its path, and a cluster has only database 0',
  })
  .refine(hasPassword, PASSWORD_NEEDED)

/** The setting `cache.redis`. A plain URL is a single server. */
export const redis = z
  .union([urlOr(FORM_NEEDED), redisObject], FORM_NEEDED)
  .meta({ title: '`redis://` or `rediss://` URL, `{ url }`, `{ sentinel }` or `{ cluster }`' })
  .transform((value): RedisSettings => (typeof value === 'string' ? { url: value } : value))

function hasCredentials(url: string): boolean {
  const { username: user, password: secret } = new URL(url)
  return user !== '' || secret !== ''
}

function hostOf(node: string): string {
  return node.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535
}

function portOf(node: string, defaultPort: number): number {
  const [, port] = /[^:]:(\d+)$/.exec(node) ?? []
  return port === undefined ? defaultPort : Number(port)
}
