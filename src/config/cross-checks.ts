import { SECTION_PROBLEMS } from '../feature-settings.ts'
import { basePathOf } from './base-path.ts'
import { enginesNear } from './engine-hosts.ts'
import { isMapping } from './mapping.ts'
import { MCP_PATH } from './mcp-settings.ts'
import type { z } from 'zod'
import {
  applicationNodesOf,
  type Config,
  engineSettings,
  type EngineConfig,
  schema,
  groupsOf,
  tellsCaller,
} from './schema.ts'
import { engineName } from './values.ts'

/** Returns problems between settings that are valid on their own. An invalid setting does not hide problems elsewhere. */
export function crossProblems(value: unknown): readonly string[] {
  if (!isMapping(value)) return []
  const valid = validSettingsOf(value)
  return [
    listenerProblems,
    adminTokenProblems,
    auditProblems,
    prefixProblems,
    toolPathProblems,
    applicationProblems,
    engineProblems,
  ].flatMap((find) => find(valid))
}

type CrossCheckedSection =
  | 'workers'
  | 'listen'
  | 'admin'
  | 'basePath'
  | 'mcp'
  | 'cache'
  | 'passthrough'
  | 'identity'
  | 'authorization'
  | 'health'
  | 'log'
  | 'audit'

/** The settings that are valid on their own. Null if a setting has problems of its own. */
type ValidSettings = { readonly [Part in CrossCheckedSection]: Config[Part] | null } & {
  /** Engines without problems. */
  readonly engines: readonly (readonly [name: string, engine: EngineConfig])[]
}

function validSettingsOf(value: Readonly<Record<string, unknown>>): ValidSettings {
  const { shape } = schema
  const engines = isMapping(value['engines']) ? Object.entries(value['engines']) : []
  return {
    workers: soundOf(shape.workers, value['workers']),
    cache: soundOf(shape.cache, value['cache']),
    listen: soundOf(shape.listen, value['listen']),
    admin: soundOf(shape.admin, value['admin']),
    basePath: soundOf(shape.basePath, value['basePath']),
    mcp: soundOf(shape.mcp, value['mcp']),
    passthrough: soundOf(shape.passthrough, value['passthrough']),
    identity: soundOf(shape.identity, value['identity']),
    authorization: soundOf(shape.authorization, value['authorization']),
    health: soundOf(shape.health, value['health']),
    log: soundOf(shape.log, value['log']),
    audit: soundOf(shape.audit, value['audit']),
    engines: engines.flatMap(([name, one]) => {
      // An invalid name is reported elsewhere, and may be content.
      const sound = soundOf(engineName, name) === null ? null : soundOf(engineSettings, one)
      return sound === null ? [] : [[name, sound] as const]
    }),
  }
}

function soundOf<T>(type: z.ZodType<T>, value: unknown): T | null {
  return type.safeParse(value).data ?? null
}

/** The hosts that bind every address of the machine. */
export const EVERYWHERE: ReadonlySet<string> = new Set(['', '0.0.0.0', '::'])

/** Returns a problem if both listeners use the same address. Port 0 means any free port. */
function listenerProblems({ listen, admin }: ValidSettings): string[] {
  if (listen === null || admin === null || listen.port !== admin.port || listen.port === 0) return []
  const isShared = listen.host === admin.host || [listen, admin].some(({ host }) => EVERYWHERE.has(host))
  return isShared ? ['admin.port: must differ from the port of listen at the same address'] : []
}

/** Returns a problem if a token with a right is also the token with all rights. */
function adminTokenProblems({ admin }: ValidSettings): string[] {
  if (admin === null || admin.token === null) return []
  const at = admin.tokens.findIndex(({ token }) => token === admin.token)
  return at === -1 ? [] : [`admin.tokens[${at}].token: is the same as admin.token, which gives all rights`]
}

/** Returns a problem if writes need audit lines that are never written. */
function auditProblems({ audit, log }: ValidSettings): string[] {
  return audit?.required === true && log?.audit === 'off'
    ? ['audit.required: needs an audit stream, but log.audit is off']
    : []
}

/**
 * Returns the problems of applications. The rewrite of links and cookies needs one path for all nodes, and session affinity needs
 * distinct nodes.
 */
function applicationProblems({ passthrough, engines }: ValidSettings): string[] {
  return (passthrough ?? []).flatMap((application, at) => {
    const { upstream, nodes } = application
    if ((upstream === undefined) === (nodes === undefined))
      return [`passthrough[${at}]: needs either upstream or nodes`]
    const own = applicationNodesOf(application)
    const paths = own.map(({ url }) => basePathOf(url))
    const other = paths.findIndex((path) => path !== paths[0])
    return [
      ...(other > 0 ? [`nodes[${other}]: must have the same path as nodes[0]`] : []),
      ...(nodes === undefined ? [] : repeatedNodeProblems(nodes)),
      ...own.flatMap(({ group }, index) =>
        group === null ? [] : [`nodes[${index}].group: only nodes of an engine have groups`],
      ),
      ...nodeTlsProblems({ nodes: own, tls: application.tls }),
      ...openEngineProblems(application, engines),
    ].map((problem) => `passthrough[${at}].${problem}`)
  })
}

/** Returns a problem if every client can reach the host of an engine, and the file does not say that this is known. */
function openEngineProblems(
  application: Config['passthrough'][number],
  engines: ValidSettings['engines'],
): string[] {
  const { auth, engineFunctions } = application
  if (auth !== 'none' || engineFunctions !== undefined) return []
  const [near] = enginesNear(applicationNodesOf(application), engines)
  return near === undefined
    ? []
    : [
        `auth: none opens ${near.host}, the host of a node of ${near.engine}, to every client. Use gateway, or set engineFunctions to state that this is known`,
      ]
}

function prefixProblems({ passthrough, basePath }: ValidSettings): string[] {
  const prefixes = passthrough?.map(({ prefix }) => prefix) ?? []
  return prefixes.flatMap((prefix, at) => {
    const first = prefixes.indexOf(prefix)
    return [
      ...(first < at ? [`passthrough[${at}].prefix: is the same as passthrough[${first}].prefix`] : []),
      ...(isWithin(basePath ?? '', prefix)
        ? [
            `passthrough[${at}].prefix: must not contain basePath: requests that are not in the API would be sent to the application`,
          ]
        : []),
    ]
  })
}

/** Returns a problem for each path that contains the path of the tools, or is within it. */
function toolPathProblems({ mcp, basePath, passthrough }: ValidSettings): string[] {
  if (mcp === null) return []
  const paths = [
    ['basePath', basePath ?? ''],
    ...(passthrough ?? []).map(({ prefix }, at) => [`passthrough[${at}].prefix`, prefix] as const),
  ] as const
  return paths.flatMap(([key, path]) =>
    path !== '' && (isWithin(MCP_PATH, path) || isWithin(path, MCP_PATH))
      ? [`${key}: must not be or contain ${MCP_PATH}, because mcp is configured`]
      : [],
  )
}

/**
 * Returns whether a path is within a prefix. The comparison ignores case because an engine or a proxy in front of it may do so.
 */
function isWithin(path: string, prefix: string): boolean {
  return `${path}/`.toLowerCase().startsWith(`${prefix}/`.toLowerCase())
}

function engineProblems({ engines, ...general }: ValidSettings): string[] {
  return engines.flatMap(([name, own]) => {
    const settings = {
      identity: own.identity ?? general.identity,
      authorization: own.authorization ?? general.authorization,
      health: own.health ?? general.health,
    }
    return [
      ...repeatedNodeProblems(own.nodes),
      ...groupProblems(own),
      ...credentialProblems(own, settings),
      ...sectionProblems(own, general),
      ...nodeTlsProblems(own),
      // Probes read the registered deployments.
      ...(own.deploymentAware && settings.health?.probe === false
        ? ['deploymentAware: needs health.probe']
        : []),
    ].map((problem) => `engines.${name}.${problem}`)
  })
}

/** Returns problems for repeated nodes. A repeated node would get twice the requests and would count as two healthy nodes. */
function repeatedNodeProblems(nodes: EngineConfig['nodes']): string[] {
  const urls = nodes.map(({ url }) => new URL(url).href.replace(/\/$/, ''))
  return urls.flatMap((url, at) => {
    const first = urls.indexOf(url)
    return first < at ? [`nodes[${at}]: is the same node as nodes[${first}]`] : []
  })
}

/** Returns problems for groups of nodes. A node without a group would get no requests, and a third group neither. */
function groupProblems({ nodes, shift, compare }: EngineConfig): string[] {
  const groups = groupsOf(nodes)
  if (groups.length === 0)
    return [
      ...(shift === null ? [] : ['shift: needs nodes with a group']),
      ...(compare === null ? [] : ['compare: needs nodes with a group']),
    ]
  if (shift === null) return ['shift: is required because nodes have a group']
  const ungrouped = nodes.flatMap(({ group }, at) =>
    group === null ? [`nodes[${at}].group: is required because other nodes have a group`] : [],
  )
  if (ungrouped.length > 0) return ungrouped
  if (groups.length !== 2)
    return [`nodes: must have exactly two groups, not ${groups.length} (${groups.join(', ')})`]
  return [
    ...(groups.includes(shift.to) ? [] : [`shift.to: must be one of ${groups.join(', ')}`]),
    ...(typeof shift.return?.differences === 'number' && compare === null
      ? ['shift.return.differences: needs compare, which finds differences']
      : []),
  ]
}

function credentialProblems(
  { credentials, service }: EngineConfig,
  { identity, authorization }: Pick<ValidSettings, 'identity' | 'authorization'>,
): string[] {
  // An engine that makes the decisions itself must know the user.
  if (!tellsCaller({ credentials }))
    return authorization?.mode === 'engine'
      ? ['credentials: must be forward or { header } if authorization.mode is engine']
      : []
  const asksForRecords = authorization?.records.source === 'engine' && authorization.mode !== 'off'
  // These lookups have no caller whose credentials could be forwarded.
  return service === undefined && (identity?.source === 'engine' || asksForRecords)
    ? [
        'service: is required if credentials is forward or { header }, and identity or records have source: engine',
      ]
    : []
}

/** Returns a problem if no node uses HTTPS, because the settings would then have no effect. */
function nodeTlsProblems({ nodes, tls }: Pick<EngineConfig, 'nodes' | 'tls'>): string[] {
  const isUsed = tls === undefined || nodes.some(({ url }) => /^https:/i.test(url))
  return isUsed ? [] : ['tls: needs a node with an https:// URL']
}

function sectionProblems(
  engine: EngineConfig,
  { workers, cache }: Pick<ValidSettings, 'workers' | 'cache'>,
): string[] {
  const isAlone = (workers ?? 1) === 1
  return SECTION_PROBLEMS.flatMap((find) =>
    find(engine, {
      hasOwnCredentials: !tellsCaller(engine) || engine.service !== undefined,
      canElect: isAlone || cache === null || cache.redis !== null,
    }),
  )
}
