import { type Config, settingsOf } from './schema.ts'

/** A setting that SECURITY.md asks to change before production. */
export interface ProductionFinding {
  /** `admin.token` */
  readonly path: string
  readonly problem: string
}

/** What the configuration cannot show. An operator checks it by hand. */
export const CHECKED_BY_HAND: readonly string[] = [
  'only the gateway can reach the engines',
  'only the proxies in listen.trustedProxies can reach the listener, if TLS ends at them',
  'secrets come from files: ${file:/run/secrets/NAME}',
  'the audit stream is stored where the gateway cannot change it',
  'no revocation names an id, if the database of the engine ignores case',
]

/**
 * Returns the settings that differ from the list "Hardening" in SECURITY.md, besides those about which `warningsOf` warns. A
 * finding is no error, because a test system may need the setting.
 */
export function productionFindingsOf(config: Config): readonly ProductionFinding[] {
  return [
    ...validationFindings(config),
    ...listenerFindings(config),
    ...redisFindings(config),
    ...issuerFindings(config),
    ...(config.limits.rate === null
      ? [finding('limits.rate', 'is not set: one user can use the whole capacity of an engine')]
      : []),
    ...(config.log.audit === 'off'
      ? [finding('log.audit', 'is off: nobody can find out later who changed what')]
      : []),
  ]
}

function finding(path: string, problem: string): ProductionFinding {
  return { path, problem }
}

function validationFindings(config: Config): readonly ProductionFinding[] {
  const byPath = new Map<string, readonly string[]>()
  for (const [name, engine] of Object.entries(config.engines)) {
    const path = engine.validation === undefined ? 'validation' : `engines.${name}.validation`
    byPath.set(path, settingsOf(config, engine).validation.allow)
  }
  return [...byPath]
    .filter(([, allowed]) => allowed.length > 0)
    .map(([path, allowed]) =>
      finding(
        `${path}.allow`,
        `permits ${allowed.join(', ')}: callers can send content that an engine executes`,
      ),
    )
}

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

function listenerFindings({ listen, admin, hosts }: Config): readonly ProductionFinding[] {
  return [
    ...(listen.tls === null && listen.trustedProxies.length === 0
      ? [
          finding(
            'listen.tls',
            'is not set, and listen.trustedProxies names no proxy at which TLS ends: passwords are sent as plain text',
          ),
        ]
      : []),
    ...(listen.allowedOrigins.length > 0
      ? [finding('listen.allowedOrigins', 'is not empty: pages of these origins can send writes')]
      : []),
    ...(hosts.length === 0
      ? [finding('hosts', 'is empty: requests with any host name are served, also those of a foreign page')]
      : []),
    ...(admin.token === null && !THIS_MACHINE.has(admin.host)
      ? [finding('admin.token', 'is not set: everyone who reaches the admin listener can use it')]
      : []),
  ]
}

function redisFindings({ cache: { redis, signingKeys } }: Config): readonly ProductionFinding[] {
  if (redis === null) return []
  const url = redis.url === undefined ? null : new URL(redis.url)
  return [
    ...(url?.protocol === 'rediss:' || redis.tls !== undefined
      ? []
      : [finding('cache.redis', 'has no TLS: use rediss:// or the section tls')]),
    ...((redis.password ?? url?.password ?? '') === ''
      ? [finding('cache.redis.password', 'is not set: everyone who reaches Redis can use it')]
      : []),
    ...(signingKeys.length === 0
      ? [finding('cache.signingKeys', 'is empty: everyone with write access to Redis can invent responses')]
      : []),
  ]
}

function issuerFindings(config: Config): readonly ProductionFinding[] {
  const places = [
    ['identity', config.identity] as const,
    ...Object.entries(config.engines).map(
      ([name, own]) => [`engines.${name}.identity`, own.identity] as const,
    ),
  ]
  return places.flatMap(([path, setting]) =>
    (setting?.tokens?.issuers ?? []).flatMap(({ userPrefix, groupPrefix }, at) => [
      ...(groupPrefix === ''
        ? [
            finding(
              `${path}.tokens.issuers[${at}].groupPrefix`,
              'is empty: a person who assigns groups at the issuer can assign the groups of administrators',
            ),
          ]
        : []),
      ...(userPrefix === ''
        ? [
            finding(
              `${path}.tokens.issuers[${at}].userPrefix`,
              'is empty: a user of the issuer is the same user as one with that name in another source. Leave it empty only if you trust all user names of the issuer',
            ),
          ]
        : []),
    ]),
  )
}
