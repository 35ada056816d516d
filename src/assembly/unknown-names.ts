import { type Config, type EngineConfig, sectionPathOf, settingsOf } from '../config/config.ts'
import { DEFAULT_ADMIN_GROUPS } from '../config/policy-settings.ts'
import type { SourceFiles } from './source-files.ts'

const MAX_NAMED = 3

/**
 * Returns warnings about lists whose names are no known users or groups, so that they apply to no one. Only users from files are
 * known: nothing is reported for a list of an engine that also accepts users of the engine or of an issuer. A list of several engines
 * is reported if none of them knows the name.
 */
export function unknownNameWarnings(config: Config, files: SourceFiles): readonly string[] {
  const engines = Object.entries(config.engines).map(([name, engine]) => ({ config, files, name, engine }))
  const lists = engines.flatMap((one) => listsAt(one, knownNamesAt(one)))
  return [
    ...new Set([
      ...engines.flatMap(everybodyWarnings),
      ...engines.flatMap(emptyFileWarnings),
      ...groupedByPath(lists).flatMap(unknownIn),
    ]),
  ]
}

interface NamedEngine {
  readonly config: Config
  readonly files: SourceFiles
  readonly name: string
  readonly engine: EngineConfig
}

/** The users and groups of the files of an engine. Null if the engine accepts others, or if the files cannot be read now. */
type KnownNames = { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> } | null

function knownNamesAt({ config, files, engine }: NamedEngine): KnownNames {
  const { identity } = settingsOf(config, engine)
  const { tokens } = identity
  if (identity.source === 'engine' || (tokens !== null && tokens.issuers.length > 0)) return null
  const all = files.users(identity).current()?.all
  if (all === undefined) return null
  return {
    users: new Set(all.map(({ id }) => id)),
    groups: new Set(all.flatMap(({ groups }) => groups)),
  }
}

/** A list of names, and the names that one engine knows. */
interface NameList {
  readonly path: string
  readonly names: readonly string[]
  readonly known: ReadonlySet<string> | null
  readonly what: string
}

function listsAt(named: NamedEngine, known: KnownNames): readonly NameList[] {
  const { config, name, engine } = named
  const { authorization, rate, maxResults } = settingsOf(config, engine)
  const authorizationPath = sectionPathOf(name, engine, 'authorization')
  const ratePath = engine.rate === undefined ? 'limits.rate' : `engines.${name}.rate`
  const resultsPath = engine.maxResults === undefined ? 'limits.maxResults' : `engines.${name}.maxResults`
  const records = namesInRecords(named)
  const ofUsers = (path: string, names: readonly string[], what = 'are no users'): NameList => ({
    path,
    names,
    known: known?.users ?? null,
    what,
  })
  const ofGroups = (path: string, names: readonly string[]): NameList => ({
    path,
    names,
    known: known?.groups ?? null,
    what: 'are groups without a member',
  })
  return [
    ofUsers(`${authorizationPath}.adminUsers`, authorization.adminUsers),
    ofGroups(`${authorizationPath}.adminGroups`, writtenGroups(authorization.adminGroups)),
    ofUsers(`engines.${name}.shift.callers`, engine.shift?.callers ?? []),
    ...config.limits.ceilings.flatMap(({ users, groups }, at) => [
      ofUsers(`limits.ceilings[${at}].users`, users),
      ofGroups(`limits.ceilings[${at}].groups`, groups),
    ]),
    ofUsers(`${ratePath}.users`, Object.keys(rate?.users ?? {})),
    ofUsers(`${resultsPath}.users`, Object.keys(maxResults?.users ?? {})),
    ofGroups(`${resultsPath}.groups`, Object.keys(maxResults?.groups ?? {})),
    ofUsers(`${authorizationPath}.records: users of records`, withoutEverybody(records.users)),
    ofGroups(`${authorizationPath}.records: groups of records`, withoutEverybody(records.groups)),
    ofUsers(
      `${sectionPathOf(name, engine, 'identity')}.groupsFile`,
      membershipIds(named),
      'are no users of the htpasswd file',
    ),
  ]
}

/** Returns the admin groups without the default. An installation may have no administrators. */
function writtenGroups(adminGroups: readonly string[]): readonly string[] {
  return adminGroups.filter((group) => !DEFAULT_ADMIN_GROUPS.includes(group))
}

/** Returns the users of the file of groups. They cannot log in if the htpasswd file does not contain them. */
function membershipIds({ config, files, engine }: NamedEngine): readonly string[] {
  const { identity } = settingsOf(config, engine)
  return identity.source === 'htpasswd' ? files.membershipIds(identity) : []
}

interface NamesInRecords {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** Returns the names in grants and revocations of a file. Empty if the gateway does not decide, or if the records are at the engine. */
function namesInRecords({ config, files, engine }: NamedEngine): NamesInRecords {
  const { mode, records } = settingsOf(config, engine).authorization
  if (records.source !== 'file' || (mode !== 'enforce' && mode !== 'report')) return { users: [], groups: [] }
  const named = files.records(records).current()?.index.named
  return { users: [...(named?.users.keys() ?? [])], groups: [...(named?.groups.keys() ?? [])] }
}

const EVERYBODY = '*'

function withoutEverybody(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== EVERYBODY)
}

/** Warns about grants and revocations for `*`, which is the id of no user and of no group. */
function everybodyWarnings(named: NamedEngine): readonly string[] {
  const { users, groups } = namesInRecords(named)
  if (!users.includes(EVERYBODY) && !groups.includes(EVERYBODY)) return []
  const path = `${sectionPathOf(named.name, named.engine, 'authorization')}.records`
  return [
    `${path}: a record of type 1 or 2 for * applies to no one: a record of type 0 (GLOBAL) applies to everyone`,
  ]
}

function emptyFileWarnings(named: NamedEngine): readonly string[] {
  const { identity } = settingsOf(named.config, named.engine)
  const path = `${sectionPathOf(named.name, named.engine, 'identity')}.file`
  const isEmpty =
    identity.source !== 'engine' &&
    identity.tokens === null &&
    named.files.users(identity).current()?.size === 0
  return isEmpty ? [`${path}: contains no user, so no one can log in`] : []
}

/** Returns the lists of the same path together. */
function groupedByPath(lists: readonly NameList[]): readonly (readonly NameList[])[] {
  const byPath = new Map<string, NameList[]>()
  for (const list of lists) byPath.set(list.path, [...(byPath.get(list.path) ?? []), list])
  return [...byPath.values()]
}

/** Returns a warning about the names of a list that no engine knows. */
function unknownIn(lists: readonly NameList[]): readonly string[] {
  const [list] = lists
  if (list === undefined || lists.some(({ known }) => known === null)) return []
  const unknown = list.names.filter((name) => !lists.some(({ known }) => known?.has(name)))
  if (unknown.length === 0) return []
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : ''
  const shown = unknown.slice(0, MAX_NAMED).join(', ')
  return [`${list.path}: these names ${list.what}, so they apply to no one: ${shown}${more}`]
}
