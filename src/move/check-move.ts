import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../errors.ts'
import type { Release } from '../operations/published/releases.ts'
import { type AskEngine, jsonIn } from '../request/engine-request.ts'
import { compareSchema, type GroupFacts, nameOfGroup, readGroupFacts, schemaOf } from './group-facts.ts'
import { stringIn } from '../request/value.ts'
import type { MoveFinding } from './move-finding.ts'
import { findInResources, type ResourceScan } from './resource-findings.ts'

/** A group of nodes, and the function that sends requests to it. */
export interface CheckedGroup {
  readonly name: string
  readonly ask: AskEngine
  /** The configured release. It is used if the nodes do not report their family. */
  readonly release: Release | null
  readonly readVersions: () => Promise<readonly NodeVersion[]>
}

export interface NodeVersion {
  readonly node: string
  /** Null if the node does not report it. */
  readonly version: string | null
  /** Why the node cannot be used, or null. */
  readonly problem: string | null
}

export interface Administrators {
  readonly groups: readonly string[]
  readonly users: readonly string[]
  /** Whether the engine has the users and groups. */
  readonly areAtEngine: boolean
}

export interface MoveCheckOptions extends Pick<ResourceScan, 'hasTime' | 'onProgress' | 'limits'> {
  readonly from: CheckedGroup
  readonly to: CheckedGroup
  readonly administrators: Administrators
  /** Whether the configuration says that each node executes only the jobs of its own deployments. */
  readonly isDeploymentAware: boolean
}

interface KnownGroup extends CheckedGroup {
  readonly facts: GroupFacts
}

/** Finds what must be changed before requests move from one group to another. It only reads. Never rejects. */
export async function checkMove(options: MoveCheckOptions): Promise<readonly MoveFinding[]> {
  const groups: KnownGroup[] = []
  const findings: MoveFinding[] = []
  for (const group of [options.from, options.to]) {
    const facts = await readGroupFacts(group.ask, group.release).catch((error: unknown) => {
      findings.push(unreachable(group, error))
      return null
    })
    if (facts !== null) groups.push({ ...group, facts })
  }
  for (const group of groups)
    findings.push(familyFinding(group), ...(await nodeFindings(group)), ...schemaFindings(group))
  const [first, second] = groups
  if (first === undefined) return [...findings, BY_HAND]
  if (second !== undefined) findings.push(...(await comparisonsOf(first, second, options)))
  // The groups have one database, so each group that responds shows all users and deployments.
  findings.push(...(await administratorFindings(first, groups, options.administrators)))
  const families = [options.from, options.to].map(
    ({ name }) => groups.find((group) => group.name === name)?.facts.family ?? null,
  )
  findings.push(...(await findInResources({ ...options, ask: first.ask, families })))
  return [...findings, BY_HAND]
}

const BY_HAND: MoveFinding = {
  severity: 'info',
  subject: 'setting',
  group: null,
  found:
    'the API does not show the default serialization format, the authorization switch, the adminGroups and the process engine plugins. ' +
    'An engine with another history level than the database does not start',
  action: 'Compare these settings of both groups by hand.',
}

function unreachable({ name }: CheckedGroup, error: unknown): MoveFinding {
  return {
    severity: 'error',
    subject: 'connection',
    group: name,
    found: `no node of the group responds: ${messageOf(error)}`,
    action: 'Start the nodes, and check their URLs and the account with check --connect.',
  }
}

function familyFinding({ name, facts }: KnownGroup): MoveFinding {
  const isKnown = facts.family !== null && facts.version !== null
  return {
    severity: isKnown ? 'info' : 'warning',
    subject: 'family',
    group: name,
    found: `the nodes run ${nameOfGroup(facts)}`,
    action: isKnown
      ? null
      : 'Permit the account of the gateway to read GET /telemetry/data and GET /version, or set engines.NAME.release for the old group, and engines.NAME.shift.release for the new one.',
  }
}

/** Returns findings about nodes that do not respond, or run another version than the others of their group. */
async function nodeFindings({ name, readVersions }: KnownGroup): Promise<readonly MoveFinding[]> {
  const nodes = await readVersions()
  const unusable = nodes.flatMap(({ node, problem }): readonly MoveFinding[] =>
    problem === null
      ? []
      : [
          {
            severity: 'warning',
            subject: 'connection',
            group: name,
            found: `the node ${node} cannot be used: ${problem}`,
            action: 'Start the node, or remove it from the configuration.',
          },
        ],
  )
  const usable = nodes.filter(({ problem }) => problem === null)
  if (new Set(usable.map(({ version }) => version)).size < 2) return unusable
  const versions = usable.map(({ node, version }) => `${node}: ${version ?? 'unknown'}`).join(', ')
  return [
    ...unusable,
    {
      severity: 'warning',
      subject: 'family',
      group: name,
      found: `the nodes of the group run different versions: ${versions}`,
      action: 'Use one version for all nodes of the group. The other findings are about one of its nodes.',
    },
  ]
}

function schemaFindings({ name, facts }: KnownGroup): readonly MoveFinding[] {
  const of = { subject: 'schema', group: name } as const
  const compared = compareSchema(facts)
  if (compared === null)
    return [
      {
        ...of,
        severity: 'warning',
        found: `it is not known whether the schema fits: the database has ${schemaOf(facts) ?? 'an unknown schema'}`,
        action: 'Compare GET /schema/log with the documentation of the engine.',
      },
    ]
  const { schema, needs, creates, isTooOld } = compared
  if (isTooOld)
    return [
      {
        ...of,
        severity: 'error',
        found: `${nameOfGroup(facts)} needs the schema ${needs}, and the database has ${schema}. Starts of instances fail`,
        action: `Run the upgrade scripts from ${schema} to ${creates}. Older nodes continue to work with it.`,
      },
    ]
  return [{ ...of, severity: 'info', found: `the schema ${schema} fits ${nameOfGroup(facts)}`, action: null }]
}

async function comparisonsOf(
  from: KnownGroup,
  to: KnownGroup,
  { isDeploymentAware }: Pick<MoveCheckOptions, 'isDeploymentAware'>,
): Promise<readonly MoveFinding[]> {
  const settings = await Promise.all(COMPARED_SETTINGS.map((setting) => settingFinding(from, to, setting)))
  return [
    ...databaseFindings(from, to),
    ...settings.flat(),
    await deploymentFinding(from, to, isDeploymentAware),
  ]
}

function databaseFindings(from: KnownGroup, to: KnownGroup): readonly MoveFinding[] {
  const [one, other] = [from.facts.schemaLog, to.facts.schemaLog]
  if (one === null || other === null || isDeepStrictEqual(one, other)) return []
  return [
    {
      severity: 'error',
      subject: 'database',
      group: null,
      found:
        'GET /schema/log differs: the groups have different databases, or write dates in different formats',
      action: 'Connect both groups to one database, with the same date format of the REST API.',
    },
  ]
}

interface ComparedSetting {
  readonly path: string
  readonly what: string
}

/** Settings of an engine that its API shows. */
const COMPARED_SETTINGS: readonly ComparedSetting[] = [
  { path: '/history/cleanup/configuration', what: 'the history cleanup' },
  { path: '/identity/password-policy', what: 'the password policy' },
]

const MAX_SETTING_BYTES = 64 * 1024
const MAX_SHOWN_CHARS = 200

async function settingFinding(
  from: KnownGroup,
  to: KnownGroup,
  { path, what }: ComparedSetting,
): Promise<readonly MoveFinding[]> {
  const [one, other] = await Promise.all([from, to].map(({ ask }) => readSetting(ask, path)))
  if (isDeepStrictEqual(one, other)) return []
  const values = [one, other].map((value) => JSON.stringify(value)?.slice(0, MAX_SHOWN_CHARS))
  return [
    {
      severity: 'warning',
      subject: 'setting',
      group: null,
      found: `${what} differs (GET ${path}): ${from.name} has ${values[0]}, ${to.name} has ${values[1]}`,
      action: 'Use the same setting in both groups.',
    },
  ]
}

/** Returns the status if the response is no JSON, for example if the setting is not enabled. */
async function readSetting(ask: AskEngine, path: string): Promise<unknown> {
  try {
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_SETTING_BYTES })
    return status === 200 ? jsonIn(body) : { status }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

const MAX_REGISTERED_BYTES = 4 * 1024 ** 2

async function deploymentFinding(
  from: KnownGroup,
  to: KnownGroup,
  isDeploymentAware: boolean,
): Promise<MoveFinding> {
  const [one = null, other = null] = await Promise.all([from, to].map(({ ask }) => readRegistered(ask)))
  const missing = one === null || other === null ? null : [...one].filter((id) => !other.has(id)).length
  return {
    severity: isDeploymentAware && missing !== 0 ? 'warning' : 'info',
    subject: 'deployment-aware',
    group: to.name,
    found:
      missing === null
        ? 'the registered deployments of the nodes cannot be read'
        : `${missing} deployments that a node of ${from.name} has registered are not registered at a node of ${to.name}`,
    action:
      'The API does not show jobExecutorDeploymentAware. If it is on, a node executes only the jobs of its own deployments: ' +
      `deploy your process applications at ${to.name} too.`,
  }
}

async function readRegistered(ask: AskEngine): Promise<ReadonlySet<string> | null> {
  try {
    const path = '/deployment/registered'
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_REGISTERED_BYTES })
    const list = status === 200 ? jsonIn(body) : null
    return Array.isArray(list) ? new Set(list.map(String)) : null
  } catch {
    return null
  }
}

const MAX_ADMINISTRATORS = 50

async function administratorFindings(
  { ask, name: asked }: KnownGroup,
  groups: readonly KnownGroup[],
  { groups: adminGroups, users, areAtEngine }: Administrators,
): Promise<readonly MoveFinding[]> {
  const unnamed = groups.flatMap(({ name, facts: { family } }): readonly MoveFinding[] => {
    const adminGroup = family?.adminGroup ?? null
    if (family === null || adminGroup === null || adminGroups.includes(adminGroup)) return []
    return [
      {
        severity: 'warning',
        subject: 'admin-group',
        group: name,
        found: `authorization.adminGroups does not name ${adminGroup}, whose members are administrators at ${family.name}`,
        action: `Add ${adminGroup} to authorization.adminGroups, and each group of adminGroups to the adminGroups of the engines.`,
      },
    ]
  })
  if (!areAtEngine) return unnamed
  const named = [
    ...adminGroups.map((id) => ({ kind: 'group', id })),
    ...users.map((id) => ({ kind: 'user', id })),
  ]
  const missing: MoveFinding[] = []
  for (const { kind, id } of named.slice(0, MAX_ADMINISTRATORS)) {
    const state = await existenceOf(ask, kind, id)
    if (state === 'exists') continue
    missing.push({
      severity: 'warning',
      subject: 'admin-group',
      group: asked,
      found: `the ${kind} ${id} of authorization.${kind === 'group' ? 'adminGroups' : 'adminUsers'} ${state}`,
      action: `Create the ${kind} at the engine, or remove it from the configuration.`,
    })
  }
  return [...unnamed, ...missing, ...(await memberFindings(ask, groups, adminGroups))]
}

const MAX_MEMBERS = 1000
const MAX_MEMBERS_BYTES = 1024 * 1024
/** The number of members that a finding names. */
const NAMED_MEMBERS = 10

/** Finds administrators of the old family who would not be administrators any more when its admin group is removed from the configuration. */
async function memberFindings(
  ask: AskEngine,
  groups: readonly KnownGroup[],
  configured: readonly string[],
): Promise<readonly MoveFinding[]> {
  const [old, next] = groups.map(({ facts: { family } }) => family?.adminGroup ?? null)
  const name = groups[1]?.name ?? null
  if (old == null || next == null || old === next || !configured.includes(old)) return []
  const of = { severity: 'warning', subject: 'admin-group', group: name } as const
  const members = await Promise.all([old, next].map((group) => membersOf(ask, group)))
  const [former, later] = members
  if (former == null || later == null)
    return [
      {
        ...of,
        found: `the members of ${old} and ${next} cannot be compared: there are more than ${MAX_MEMBERS}, or they cannot be read`,
        action: `Before you remove ${old} from authorization.adminGroups, add its members to ${next}.`,
      },
    ]
  const missing = former.filter((id) => !later.includes(id))
  if (missing.length === 0) return []
  const more = missing.length > NAMED_MEMBERS ? ' …' : ''
  return [
    {
      ...of,
      found: `members of ${old} who are not members of ${next}: ${missing.slice(0, NAMED_MEMBERS).join(', ')}${more} (${missing.length} in total)`,
      action: `Before you remove ${old} from authorization.adminGroups, add them to ${next} (PUT /group/${next}/members/USER), and create the records of ${old} for ${next}.`,
    },
  ]
}

/** Returns the ids of the members of a group. Null if there are too many, or if they cannot be read. */
async function membersOf(ask: AskEngine, group: string): Promise<readonly string[] | null> {
  try {
    const path = `/user?memberOfGroup=${encodeURIComponent(group)}&maxResults=${MAX_MEMBERS + 1}`
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_MEMBERS_BYTES })
    const list = status === 200 ? jsonIn(body) : null
    if (!Array.isArray(list) || list.length > MAX_MEMBERS) return null
    const ids = list.map((user: unknown) => stringIn(Object(user), 'id'))
    return ids.every((id) => id !== null) ? ids : null
  } catch {
    return null
  }
}

async function existenceOf(ask: AskEngine, kind: string, id: string): Promise<string> {
  try {
    const path = `/${kind}?id=${encodeURIComponent(id)}&maxResults=1`
    const { status, body } = await ask({ method: 'GET', path, limitBytes: MAX_SETTING_BYTES })
    if (status !== 200) return `cannot be read: status ${status}`
    const list = jsonIn(body)
    return Array.isArray(list) && list.length > 0 ? 'exists' : 'does not exist at the engine'
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`
  }
}
