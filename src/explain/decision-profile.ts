import { hash } from 'node:crypto'
import { RESOURCES } from '../operations/permissions.ts'
import type { Principal } from '../request/principal.ts'
import { isAdmin } from '../policy/authz/decision/admin.ts'
import { eachNamedId } from '../policy/authz/decision/granted-ids.ts'
import type { Records, Rights, Subjects } from '../policy/authz/records/records.ts'
import { NOBODY, usesRevokes } from '../policy/authz/records/records.ts'
import type { PermitSubject } from './permit-subject.ts'
import type { SearchTurn } from './search-turn.ts'

const TYPES: readonly number[] = Object.values(RESOURCES).map(({ id }) => id)

/**
 * Returns a text that is equal for callers whose possible operations are equal. It contains everything in the records and in the caller
 * on which a decision depends, except for the names of ids, users, groups and tenants: a decision compares them only with each other. Therefore
 * callers who have the same permissions on different ids have the same profile, and a change of records that concern other callers
 * changes no profile.
 */
export async function decisionProfileOf(subject: PermitSubject, turn: SearchTurn): Promise<string> {
  const { principal, records, hasCases } = subject
  const rights = new RightsOfCaller(records, principal)
  const facts = [
    isAdmin(principal, subject),
    usesRevokes(records, principal),
    hasCases,
    TYPES.map((type) => rights.on(type, '*')),
    await rightsOfIds(rights, subject, turn),
  ]
  return hash('sha256', JSON.stringify(facts), 'base64url')
}

/** Returns the different rights that the caller has on ids: one text for all ids with the same rights on all resources. */
async function rightsOfIds(
  rights: RightsOfCaller,
  { principal, records }: PermitSubject,
  turn: SearchTurn,
): Promise<readonly string[]> {
  const { userId, groups, tenants } = principal
  const ownGroups = new Set(groups)
  const ownTenants = new Set(tenants)
  const ids = new Map<string, string>([userId, ...groups, ...tenants].map((id) => [id, '']))
  for (const type of TYPES) {
    const seen = new Set<string>()
    for (const id of eachNamedId(records, principal, type)) {
      if (turn.isOver) await turn.end()
      if (seen.has(id)) continue
      seen.add(id)
      ids.set(id, `${ids.get(id) ?? ''};${type}=${rights.on(type, id)}`)
    }
  }
  const found = new Set<string>()
  for (const [id, onTypes] of ids) {
    if (turn.isOver) await turn.end()
    found.add(`${[id === userId, ownGroups.has(id), ownTenants.has(id), id === tenants[0]].join()}${onTypes}`)
  }
  return [...found].toSorted()
}

/** The rights of a caller as texts. Many ids share the same subjects, so each text is written once. */
class RightsOfCaller {
  readonly #records: Records
  readonly #principal: Principal
  readonly #texts = new Map<Subjects, string>()

  constructor(records: Records, principal: Principal) {
    this.#records = records
    this.#principal = principal
  }

  /** Returns the rights of the caller, of each group, and of all users on an id. Groups with the same rights count once. */
  on(type: number, id: string): string {
    const subjects = this.#records.rights.get(type)?.get(id) ?? NOBODY
    const known = this.#texts.get(subjects)
    if (known !== undefined) return known
    const { userId, groups } = this.#principal
    const ofGroups = groups.map((group) => textOf(subjects.groups.get(group))).filter((text) => text !== '')
    const text = `${textOf(subjects.users.get(userId))}|${[...new Set(ofGroups)].toSorted().join('+')}|${textOf(subjects.global)}`
    this.#texts.set(subjects, text)
    return text
  }
}

function textOf(rights: Rights | undefined): string {
  return rights === undefined ? '' : `${rights.granted}/${rights.revoked}`
}
