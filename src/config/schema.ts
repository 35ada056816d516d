import { z } from 'zod'
import { idempotency } from './idempotency-settings.ts'
import { limits, rate } from './limit-settings.ts'
import { health, node } from './node-settings.ts'
import { authorizationSettings, identitySettings, validation } from './policy-settings.ts'
import { OF_A_FILE } from './config-problems.ts'
import {
  adminHost,
  bearerToken,
  engineName,
  httpUrl,
  wholeNumber,
  network,
  origin,
  remoteName,
  servedHost,
  signingKey,
  size,
  time,
} from './values.ts'

const address = (port: number) => ({
  host: z.string().default('127.0.0.1'),
  port: wholeNumber(0, 65_535).default(port),
})
/** The public listener. */
const listen = z.strictObject({
  ...address(8080),
  /** Proxies whose `X-Forwarded-For` or `Forwarded` names the client; from others these headers are ignored. */
  trustedProxies: z.array(network).default([]),
  /** Origins whose pages may make a browser send more than reads, beside the gateway's own. */
  allowedOrigins: z.array(origin).default([]),
})
/** Health, metrics and operator requests. */
const admin = z.strictObject({
  ...address(9090),
  /** Host names that it accepts, beside `host`, `localhost` and every IP address. */
  hosts: z.array(adminHost).default([]),
  /** Required as `Authorization: Bearer` for all but `/livez` and `/readyz`; null: everyone who can connect may use it. */
  token: bearerToken.nullable().default(null),
})

const account = z.strictObject({ username: z.string().min(1, 'must not be empty'), password: z.string() })
const credentials = z.union(
  [z.enum(['none', 'forward']), account],
  'none, forward or { username, password } is needed',
)
export const engineSettings = z.strictObject({
  nodes: z.array(node).min(1, 'at least one node is needed'),
  remoteName: remoteName.optional(),
  credentials: credentials.default('none'),
  /** The gateway's own credentials for requests to the engine; default: as `credentials`. */
  service: account.optional(),
  /** Whose Host the engine receives. `client` keeps the engine's absolute links right. */
  host: z.enum(['client', 'node']).default('client'),
  identity: identitySettings.optional(),
  authorization: authorizationSettings.optional(),
  validation: validation.optional(),
  health: health.optional(),
  /** Replaces `limits.rate`; null: no user is limited. */
  rate: rate.nullable().optional(),
  /** Starts of a definition go to nodes that have its deployment registered; each probe reads the deployments. */
  deploymentAware: z.boolean().default(false),
})

const prefix = z
  .string()
  .regex(/^(\/[A-Za-z0-9._][A-Za-z0-9._-]*)+$/, 'write it like /app, without a slash at its end')

/** All settings of the file. */
export const schema = z.strictObject(
  {
    version: z.literal(1),
    /** Processes that share the public port; a change needs a restart. */
    workers: wholeNumber(1, 64).default(1),
    listen: listen.prefault({}),
    admin: admin.prefault({}),
    basePath: z
      .string()
      .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'write it like /engine-rest')
      .default('/engine-rest'),
    /** Values of Host that are served; empty: any. */
    hosts: z.array(servedHost).default([]),
    engines: z
      .record(engineName, engineSettings)
      .refine((engines) => Object.keys(engines).length > 0, 'at least one engine is needed'),
    identity: identitySettings,
    authorization: authorizationSettings,
    validation: validation.prefault({}),
    health: health.prefault({}),
    cache: z
      .strictObject({
        memory: z.strictObject({ maxBytes: size(0).default(64 * 1024 ** 2) }).prefault({}),
        redis: z
          .url({ protocol: /^rediss?$/, error: 'a redis:// or rediss:// URL, or null, is needed' })
          .nullable()
          .default(null),
        /** The first key signs what is written to Redis. Values that no key has signed are rejected. Empty: everyone who can write to Redis is trusted. */
        signingKeys: z.array(signingKey).max(4, 'at most 4 keys are taken').default([]),
      })
      .prefault({}),
    idempotency: idempotency.prefault({}),
    limits: limits.prefault({}),
    timeouts: z
      .strictObject({
        connect: time().default(1000),
        /** From the request's last byte to the answer's first. */
        headers: time().default(60_000),
        /** Between two chunks of an answer's body. */
        body: time().default(60_000),
        /** From an answer's first byte to its last. */
        answer: time().default(600_000),
        /** A client's complete request, head and body. */
        request: time().default(60_000),
        /** From SIGTERM to the exit at the latest. */
        drain: time(0).default(20_000),
      })
      .prefault({}),
    passthrough: z.array(z.strictObject({ prefix, upstream: httpUrl })).default([]),
    log: z
      .strictObject({
        level: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
        /** Where every refusal and every write is recorded: `stdout` among the other lines, a file, or `off`. */
        audit: z.string().min(1).default('stdout'),
      })
      .prefault({}),
  },
  OF_A_FILE,
)

export type Config = z.infer<typeof schema>
export type EngineConfig = Config['engines'][string]
export type AuthorizationConfig = Config['authorization']
export type IdentityConfig = Config['identity']

/** An engine's settings; its own have precedence over the general ones. */
export function settingsOf(config: Config, engineConfig: EngineConfig) {
  return {
    identity: engineConfig.identity ?? config.identity,
    authorization: engineConfig.authorization ?? config.authorization,
    validation: engineConfig.validation ?? config.validation,
    health: engineConfig.health ?? config.health,
    rate: engineConfig.rate === undefined ? config.limits.rate : engineConfig.rate,
  }
}
