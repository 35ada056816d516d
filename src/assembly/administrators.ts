import { type Config, sectionPathOf, settingsOf } from '../config/config.ts'
import type { RecordIndex } from '../policy/authz/records/records.ts'
import type { User } from '../files/users-file.ts'
import type { SourceFiles } from './source-files.ts'

const MAX_NAMED = 3

/**
 * Returns warnings about administrators without an authorization record. As in the engine, membership of an admin group alone
 * grants no permission.
 */
export function administratorWarnings(config: Config, files: SourceFiles): readonly string[] {
  const warnings = Object.entries(config.engines).flatMap(([name, engine]) => {
    const { identity, authorization } = settingsOf(config, engine)
    const { mode, records: from, adminGroups } = authorization
    const isDecided = mode === 'enforce' || mode === 'report'
    if (!isDecided || identity.source === 'engine' || from.source !== 'file') return []
    const records = files.records(from).current()?.index ?? null
    const administrators = (files.users(identity).current()?.all ?? []).filter(({ groups }) =>
      groups.some((group) => adminGroups.includes(group)),
    )
    const without = administrators
      .filter((user) => records === null || !isNamed(records, user))
      .map(({ id }) => id)
    const path = sectionPathOf(name, engine, 'authorization')
    return without.length === 0 ? [] : [`${path}.records: ${warningOf(without, adminGroups)}`]
  })
  return [...new Set(warnings)]
}

function isNamed({ named: { users, groups } }: RecordIndex, user: User): boolean {
  return users.has(user.id) || user.groups.some((group) => groups.has(group))
}

function warningOf(ids: readonly string[], adminGroups: readonly string[]): string {
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  return (
    'no authorization record names these administrators or one of their groups: ' +
    `${ids.slice(0, MAX_NAMED).join(', ')}${more} (admin groups: ${adminGroups.join(', ')}). ` +
    'Membership in an admin group grants no permission by itself. config/authorizations.yaml shows the records that administrators need'
  )
}
