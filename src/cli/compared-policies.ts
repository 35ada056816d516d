import { policiesFor } from '../assembly/build-engine.ts'
import { changesBetween } from '../config/config-changes.ts'
import { type AuthorizationConfig, loadConfig, settingsOf } from '../config/config.ts'
import { isMapping } from '../config/mapping.ts'
import { authorizationSettings } from '../config/policy-settings.ts'
import { parseText } from '../files/file-problems.ts'
import { recordsOf } from '../files/records-file.ts'
import { membershipsOf, withMemberships } from '../files/groups-file.ts'
import { htpasswdUsersOf } from '../files/htpasswd-file.ts'
import { type Users, usersOf } from '../files/users-file.ts'
import { linkBitsOf } from '../policy/authz/entities/implicit-grants.ts'
import type { ComparedPolicy, Pair } from '../explain/compared-policy.ts'
import { indexRecords } from '../policy/authz/records/records.ts'
import { CommandError } from './command-failure.ts'
import { readText } from './read-text.ts'

/** A policy with the settings that decide, without the source of the records. */
export interface ReadPolicy extends ComparedPolicy {
  readonly settings: Omit<AuthorizationConfig, 'records'>
}

export interface PolicySource {
  /** A file with records, or a configuration. */
  readonly file: string
  readonly engine: string
  /** The configuration whose settings and users apply to a file with records. Undefined: the default settings apply. */
  readonly config: string | undefined
  /** A file with users, instead of those of the configuration. */
  readonly users: string | undefined
}

/** Reads one of the policies to compare. @throws ConfigError, or CommandError if records or users are not in files */
export function readPolicy({ file, engine, config, users }: PolicySource): ReadPolicy {
  const text = readText(file)
  const isRecords = hasRecords(file, text)
  const settings =
    isRecords && config === undefined ? null : settingsIn(isRecords ? (config ?? file) : file, engine)
  const authorization =
    settings?.authorization ?? authorizationSettings.parse({ records: { source: 'file', file } })
  const all = users === undefined ? usersIn(settings) : usersOf(readText(users), users)
  const list = isRecords ? recordsOf(text, file) : recordsIn(authorization, engine)
  const { records: _, ...own } = authorization
  const { revokes, disabledPermissions, adminGroups, adminUsers, implied, tenants } = own
  const { taskPermission } = implied
  const { specificVariablePermissions: specificVariables } = own
  return {
    settings: own,
    list,
    records: indexRecords(list, { revokes, disabledPermissions }),
    users: all === null ? null : principalsOf(all),
    adminGroups,
    adminUsers,
    checksTenants: tenants === 'check',
    impliesIdentity: implied.identity,
    impliesFilters: implied.filters && authorization.records.source === 'file',
    linkBits: implied.tasks ? linkBitsOf({ taskPermission, specificVariables }) : 0,
    policies: policiesFor(authorization),
  }
}

/** Returns the paths of the settings that differ. */
export function settingChangesBetween({ before, after }: Pair<ReadPolicy>): readonly string[] {
  return changesBetween({ authorization: before.settings }, { authorization: after.settings })
}

/** Returns whether a file has records, and is not a configuration. */
function hasRecords(file: string, text: string): boolean {
  const value = parseText(file, text)
  return Array.isArray(value) || (isMapping(value) && Object.hasOwn(value, 'authorizations'))
}

function settingsIn(file: string, engine: string) {
  const config = loadConfig(file)
  const own = config.engines[engine]
  if (own === undefined)
    throw new CommandError(
      `${file} has no engine ${engine}, but ${Object.keys(config.engines).join(', ')}: choose one with --engine`,
    )
  return settingsOf(config, own)
}

function recordsIn({ records }: AuthorizationConfig, engine: string): ComparedPolicy['list'] {
  if (records.source === 'file') return recordsOf(readText(records.file), records.file)
  throw new CommandError(
    `The records of engine ${engine} come from the engine: give the response of GET /authorization as a file`,
  )
}

/** Returns the users of a configuration. Null if they come from the engine, or if there is no configuration. */
function usersIn(settings: ReturnType<typeof settingsOf> | null): Users | null {
  const identity = settings?.identity ?? null
  if (identity === null || identity.source === 'engine') return null
  if (identity.source === 'file') return usersOf(readText(identity.file), identity.file)
  const { file, groupsFile } = identity
  const users = htpasswdUsersOf(readText(file), file)
  if (groupsFile === undefined) return users
  const memberships = membershipsOf(readText(groupsFile), groupsFile)
  return withMemberships(users, new Map(memberships.map((one) => [one.id, one])))
}

function principalsOf({ all }: Users): ComparedPolicy['users'] {
  return new Map(all.map(({ id, groups, tenants }) => [id, { userId: id, groups, tenants }]))
}
