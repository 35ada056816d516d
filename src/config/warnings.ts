import { RESOURCES } from '../operations/permissions.ts'
import { closestOf } from './closest.ts'
import { findPatternDoubt } from './date-pattern.ts'
import { enginesNear, THIS_MACHINE } from './engine-hosts.ts'
import { meantText } from './plain-messages.ts'
import { applicationNodesOf, type Config, sectionPathOf, settingsOf, tellsCaller } from './schema.ts'
import { EVERYWHERE } from './cross-checks.ts'
import { certificateFilesOf, certificateEndOf } from './tls-files.ts'

/**
 * Returns warnings about dangerous but allowed settings, each as `path: effect`. They are not errors: an operator may want such a
 * setting.
 */
export function warningsOf(config: Config): readonly string[] {
  return [
    ...modeWarnings(config),
    ...issuerWarnings(config),
    ...passthroughWarnings(config),
    ...userHeaderWarnings(config),
    ...certificateWarnings(config),
    ...adminWarnings(config),
    ...permissionWarnings(config),
    ...nodeWarnings(config),
    ...ceilingWarnings(config),
    ...dateWarnings(config),
  ]
}

/** Returns the issuers of all sections, with their paths. */
export function issuersOf({ engines, identity }: Config) {
  const places = [
    ['identity', identity] as const,
    ...Object.entries(engines).map(([name, own]) => [`engines.${name}.identity`, own.identity] as const),
  ]
  return places.flatMap(([path, setting]) =>
    (setting?.tokens?.issuers ?? []).map((issuer, at) => ({ path: `${path}.tokens.issuers[${at}]`, issuer })),
  )
}

/** Warns about issuers whose keys are fetched over a connection on which they could be changed. */
function issuerWarnings(config: Config): readonly string[] {
  return issuersOf(config).flatMap(({ path, issuer: { issuer, jwksUri } }) => {
    const { protocol, hostname } = new URL(jwksUri ?? issuer)
    if (protocol === 'https:' || THIS_MACHINE.test(hostname)) return []
    return [
      `${path}: the keys are read without TLS: an attacker who can change the response can impersonate every user`,
    ]
  })
}

const EFFECTS = {
  authorization: {
    report: 'refuses no request, so every user may do everything',
    off: 'checks no permission, so every user may do everything',
  },
  validation: {
    report: 'refuses no content, not even content with code',
    off: 'checks no content, not even content with code',
  },
} as const

/** Warns about rules that name callers by their tokens where no engine accepts tokens: they limit no caller. */
function ceilingWarnings(config: Config): readonly string[] {
  const takesTokens = Object.values(config.engines).some(
    (engine) => settingsOf(config, engine).identity.tokens !== null,
  )
  if (takesTokens) return []
  return config.limits.ceilings.flatMap(({ clients, claim }, at) =>
    clients.length === 0 && claim === null
      ? []
      : [`limits.ceilings[${at}]: no engine accepts tokens, so clients and claim name no caller`],
  )
}

/** Warns about each section that refuses nothing, with the engines that use it. */
function modeWarnings(config: Config): readonly string[] {
  return (['authorization', 'validation'] as const).flatMap((section) => {
    const byPath = new Map<string, string[]>()
    for (const [name, engine] of Object.entries(config.engines)) {
      const { mode } = settingsOf(config, engine)[section]
      if (mode !== 'report' && mode !== 'off') continue
      // The engine still decides.
      if (section === 'authorization' && tellsCaller(engine)) continue
      const path = sectionPathOf(name, engine, section)
      const warning = `${path}.mode: ${mode} ${EFFECTS[section][mode]}`
      byPath.set(warning, [...(byPath.get(warning) ?? []), name])
    }
    return [...byPath].map(([warning, names]) => `${warning} (${names.join(', ')})`)
  })
}

function passthroughWarnings({ passthrough, engines }: Config): readonly string[] {
  return passthrough.flatMap((application, index) => {
    const { prefix, auth, engineFunctions } = application
    const near = enginesNear(applicationNodesOf(application), Object.entries(engines))
    const leadsTo = `leads to ${listOf(near.map(({ host }) => host))}, the host of a node of ${listOf(near.map(({ engine }) => engine))}`
    const warnings = [
      ...(auth === 'none'
        ? ['is open to every client that can reach the listener: the gateway requires no credentials']
        : []),
      ...(near.length > 0 && engineFunctions === undefined
        ? [
            `${leadsTo}. Login, API and plugins of the engine's web applications are refused there. Set engineFunctions to refuse or forward`,
          ]
        : []),
      ...(near.length > 0 && engineFunctions === 'forward'
        ? [
            `${leadsTo}. Every user who logs in to an application ` +
              'there can use all engine functions that it offers. The gateway checks no authorization record, tenant or content of these requests',
          ]
        : []),
      ...(near.length === 0 && engineFunctions !== undefined
        ? ['has engineFunctions, which has no effect: no node of an engine is known to be on its host']
        : []),
    ]
    return warnings.map((warning) => `passthrough[${index}]: ${prefix} ${warning}`)
  })
}

/** Warns about engines that trust a plain user header. They trust it from every client. */
function userHeaderWarnings({ engines }: Config): readonly string[] {
  return Object.entries(engines).flatMap(([name, { credentials }]) =>
    typeof credentials === 'object' && 'header' in credentials && credentials.sign === undefined
      ? [
          `engines.${name}.credentials: a client that reaches the nodes without the gateway can impersonate any user with the header ${credentials.header}: allow only the gateway to reach the nodes, or set sign`,
        ]
      : [],
  )
}

function adminWarnings({ admin }: Config): readonly string[] {
  return admin.token === null && admin.tokens.length === 0 && EVERYWHERE.has(admin.host)
    ? ['admin.token: is not set, so every client that reaches the admin listener can use it']
    : []
}

/** Warns about checks that are switched off, and about names that switch off nothing. */
function permissionWarnings(config: Config): readonly string[] {
  const warnings = Object.entries(config.engines).flatMap(([name, engine]) => {
    const path = sectionPathOf(name, engine, 'authorization')
    return settingsOf(config, engine).authorization.disabledPermissions.map((permission) =>
      PERMISSION_NAMES.includes(permission)
        ? `${path}.disabledPermissions: ${permission} is checked nowhere: every user has it on every resource`
        : `${path}.disabledPermissions: a name is no permission of an engine, so it has no effect${meantText(closestOf(permission, PERMISSION_NAMES))}`,
    )
  })
  return [...new Set(warnings)]
}

const PERMISSION_NAMES: readonly string[] = [
  ...new Set(Object.values(RESOURCES).flatMap(({ permissions }) => Object.keys(permissions))),
]

function nodeWarnings({ engines }: Config): readonly string[] {
  return Object.entries(engines).flatMap(([name, { nodes }]) =>
    nodes.every(({ drain }) => drain)
      ? [`engines.${name}.nodes: all nodes have drain, so the engine gets no requests`]
      : [],
  )
}

function dateWarnings({ engines }: Config): readonly string[] {
  return Object.entries(engines).flatMap(([name, { dateFormat }]) => {
    const doubt = findPatternDoubt(dateFormat)
    return doubt === null ? [] : [`engines.${name}.dateFormat: ${doubt}`]
  })
}

function listOf(names: readonly string[]): string {
  return [...new Set(names)].join(', ')
}

/** Enough time to renew a certificate by hand. */
const ENDS_SOON_MS = 30 * 24 * 3_600_000

function certificateWarnings(config: Config): readonly string[] {
  return certificateFilesOf(config).flatMap(({ path, file }) => {
    const endsAtMs = certificateEndOf(file)
    if (endsAtMs === null || endsAtMs > Date.now() + ENDS_SOON_MS) return []
    const at = new Date(endsAtMs).toISOString()
    return [
      endsAtMs > Date.now() ? `${path}: expires at ${at}` : `${path}: expired at ${at}: peers refuse it`,
    ]
  })
}
