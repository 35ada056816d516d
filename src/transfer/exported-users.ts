import { type Memberships, membershipsOf } from '../files/groups-file.ts'
import { USER_ID } from '../files/users-file.ts'
import type { EngineEntity, EngineIdentities } from './engine-content.ts'
import { compareText, type ExportedFile, omission } from './exported-file.ts'

/** Returns the users of an engine, with groups and tenants, as a file without passwords. */
export function exportUsers(identities: EngineIdentities): ExportedFile {
  const { users, groups, tenants } = identities
  const known = new Set(users.map(({ id }) => id))
  const members = [...groups.flatMap((group) => group.members), ...tenants.flatMap((tenant) => tenant.users)]
  return {
    text: textOfUsers(membershipsIn(identities).filter(hasFileId)),
    omissions: [
      ...omission(
        'users whose id has a colon or a control character, or is *',
        users.filter((user) => !hasFileId(user)).map(({ id }) => id),
      ),
      ...omission(
        'members of groups or tenants that are not in the list of users',
        members.filter((id) => !known.has(id)),
      ),
      ...omission('names and e-mail addresses of users', withDetails(users)),
      ...omission('names and types of groups', withDetails(groups)),
      ...omission('names of tenants', withDetails(tenants)),
      ...omission(
        'groups without members',
        groups.filter((group) => group.members.length === 0).map(({ id }) => id),
      ),
      ...omission(
        'tenants without members',
        tenants.filter((tenant) => tenant.users.length + tenant.groups.length === 0).map(({ id }) => id),
      ),
      ...omission(
        'groups that are members of a tenant: the file names the tenant at each user of the group instead',
        tenants.flatMap(({ id, groups: ofTenant }) => ofTenant.map((group) => `${group} in ${id}`)),
      ),
    ],
    parsed: (text) => textOfUsers(membershipsOf(text)),
  }
}

/** Returns whether a file may contain the id of a user. */
function hasFileId({ id }: Pick<EngineEntity, 'id'>): boolean {
  return USER_ID.test(id)
}

function withDetails(entities: readonly EngineEntity[]): readonly string[] {
  return entities.filter(({ details }) => Object.keys(details).length > 0).map(({ id }) => id)
}

/** Returns each user with the groups, and with the tenants of the user and of these groups. */
export function membershipsIn({ users, groups, tenants }: EngineIdentities): readonly Memberships[] {
  const found = new Map(
    users.map(({ id }) => [id, { groups: new Set<string>(), tenants: new Set<string>() }]),
  )
  for (const { id, members } of groups) for (const member of members) found.get(member)?.groups.add(id)
  const membersOf = new Map(groups.map(({ id, members }) => [id, members]))
  for (const tenant of tenants) {
    const ofGroups = tenant.groups.flatMap((group) => membersOf.get(group) ?? [])
    for (const member of [...tenant.users, ...ofGroups]) found.get(member)?.tenants.add(tenant.id)
  }
  return [...found].map(([id, user]) => ({ id, groups: [...user.groups], tenants: [...user.tenants] }))
}

function textOfUsers(users: readonly Memberships[]): string {
  if (users.length === 0) return 'users: []\n'
  const lines = users
    .toSorted((one, other) => compareText(one.id, other.id))
    .map(
      ({ id, groups, tenants }) =>
        `  - { id: ${quoted(id)}, groups: ${listOf(groups)}, tenants: ${listOf(tenants)} }\n`,
    )
  return `users:\n${lines.join('')}`
}

function listOf(names: readonly string[]): string {
  return `[${names.toSorted(compareText).map(quoted).join(', ')}]`
}

/** Returns a text in the quotes of YAML. Every character that YAML treats in its own way is escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e\u00a1-\u1fff\u3001-\ud7ff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
