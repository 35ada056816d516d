import { enginesNear, THIS_MACHINE } from './engine-hosts.ts'
import { applicationNodesOf, type Config, sectionPathOf, settingsOf } from './schema.ts'
import { issuersOf } from './warnings.ts'

/** A setting that SECURITY.md asks to change before production. */
export interface ProductionFinding {
  /** `admin.token` */
  readonly path: string
  readonly problem: string
}

/** The items of the list that an operator must check, because the configuration does not show them. */
export const CHECKED_BY_HAND: readonly string[] = [
  'only the gateway can reach the engines',
  'no prefix of passthrough leads to an engine by another name of its host',
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
    ...applicationFindings(config),
    ...(config.limits.rate === null
      ? [finding('limits.rate', 'is not set: one user can use the whole capacity of an engine')]
      : []),
    ...(config.log.audit === 'off'
      ? [finding('log.audit', 'is off: no line shows later which user changed what')]
      : []),
  ]
}

function finding(path: string, problem: string): ProductionFinding {
  return { path, problem }
}

function validationFindings(config: Config): readonly ProductionFinding[] {
  const byPath = new Map<string, readonly string[]>()
  for (const [name, engine] of Object.entries(config.engines)) {
    byPath.set(sectionPathOf(name, engine, 'validation'), settingsOf(config, engine).validation.allow)
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

/** Returns what each prefix opens that the records of the gateway do not decide. */
function applicationFindings({ passthrough, engines }: Config): readonly ProductionFinding[] {
  return passthrough.flatMap((application, at) => {
    const { prefix, auth, engineFunctions, allow } = application
    const path = `passthrough[${at}]`
    const isNear = enginesNear(applicationNodesOf(application), Object.entries(engines)).length > 0
    const callers = auth === 'none' ? 'every client' : 'every user of the default engine'
    const opened = allow.length === 0 ? 'every path that is not denied' : 'the paths of allow'
    return [
      finding(
        path,
        `opens ${opened} below ${prefix} to ${callers}: no record, tenant or rate of the gateway applies there`,
      ),
      ...(isNear && engineFunctions === 'forward'
        ? [
            finding(
              `${path}.engineFunctions`,
              "is forward: a user of the engine who logs in to its web applications can read and change everything, and wrong passwords can lock the engine's users",
            ),
          ]
        : []),
    ]
  })
}

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
      ? [
          finding(
            'hosts',
            'is empty: requests with any host name are served, also requests of pages of other origins',
          ),
        ]
      : []),
    ...(admin.token === null && admin.tokens.length === 0 && !THIS_MACHINE.test(admin.host)
      ? [finding('admin.token', 'is not set: every client that reaches the admin listener can use it')]
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
      ? [finding('cache.redis.password', 'is not set: every client that reaches Redis can use it')]
      : []),
    ...(signingKeys.length === 0
      ? [
          finding(
            'cache.signingKeys',
            'is empty: every client with write access to Redis can invent responses',
          ),
        ]
      : []),
  ]
}

function issuerFindings(config: Config): readonly ProductionFinding[] {
  return issuersOf(config).flatMap(({ path, issuer: { userPrefix, groupPrefix } }) => [
    ...(groupPrefix === ''
      ? [
          finding(
            `${path}.groupPrefix`,
            'is empty: a person who assigns groups at the issuer can assign the groups of administrators',
          ),
        ]
      : []),
    ...(userPrefix === ''
      ? [
          finding(
            `${path}.userPrefix`,
            'is empty: a user of the issuer is the same user as one with that name in another source. Leave it empty only if you trust all user names of the issuer',
          ),
        ]
      : []),
  ])
}
