import type { MissingPermission } from '../errors.ts'
import { decideAny } from '../policy/authz/decision/decide.ts'
import type { Grant, Requirement } from '../policy/authz/records/grants.ts'
import { requirementsOf, recordsOfGrants, smallestGrants } from '../policy/authz/records/grants.ts'
import type { AuthorizationRecord } from '../operations/authorization-record.ts'
import { indexRecords } from '../policy/authz/records/records.ts'

/** A request that was refused, or would have been refused, because records are missing. */
export interface ObservedDenial {
  readonly user: string
  readonly missing: readonly MissingPermission[]
}

export interface SuggestedRecord {
  readonly record: AuthorizationRecord
  /** How often the record would have been needed. */
  readonly times: number
}

export interface Suggestion {
  readonly records: readonly SuggestedRecord[]
  /** The number of different needs, and of those that remain unmet when the records are tried: there are no records, or a resource is not known. */
  readonly needs: number
  readonly unmet: number
  /** Permissions on more ids than a person would list, without a definition that could be granted instead, for example `TASK.READ`. */
  readonly crowded: readonly string[]
}

/** A subject that needs records: one user, or the users of one group. */
interface SubjectNeeds {
  readonly who: Pick<AuthorizationRecord, 'userId' | 'groupId'>
  readonly requirements: Map<string, Requirement & { weight: number }>
  unknown: number
}

/** If there are more ids than this, a grant on their definition is better, if it is an alternative. */
const MAX_IDS = 10
const DEFINITIONS: ReadonlySet<string> = new Set(['PROCESS_DEFINITION', 'DECISION_DEFINITION'])

/** Collects missing permissions and suggests the records that would have been sufficient. */
export class Suggester {
  readonly #group: string | null
  readonly #subjects = new Map<string, SubjectNeeds>()

  /** @param group the group to which all users are assumed to belong; null if every user gets records of their own */
  constructor(group: string | null = null) {
    this.#group = group
  }

  add({ user, missing }: ObservedDenial): void {
    const subject = this.#subjectOf(user)
    const requirements = requirementsOf(missing)
    if (requirements.length < new Set(missing.map(({ need }) => need)).size) subject.unknown += 1
    for (const requirement of requirements) {
      const key = JSON.stringify(requirement.anyOf)
      const known = subject.requirements.get(key)
      if (known === undefined) subject.requirements.set(key, { ...requirement, weight: 1 })
      else known.weight += 1
    }
  }

  suggest(): Suggestion {
    const parts = [...this.#subjects.values()].map(suggestFor)
    return {
      records: parts.flatMap(({ records }) => records),
      needs: parts.reduce((sum, { needs }) => sum + needs, 0),
      unmet: parts.reduce((sum, { unmet }) => sum + unmet, 0),
      crowded: [...new Set(parts.flatMap(({ crowded }) => crowded))],
    }
  }

  #subjectOf(user: string): SubjectNeeds {
    const key = this.#group ?? user
    const known = this.#subjects.get(key)
    if (known !== undefined) return known
    const who = this.#group === null ? { userId: user } : { groupId: this.#group }
    const made: SubjectNeeds = { who, requirements: new Map(), unknown: 0 }
    this.#subjects.set(key, made)
    return made
  }
}

function suggestFor({ who, requirements, unknown }: SubjectNeeds): Suggestion {
  const all = [...requirements.values()]
  const crowd = crowdedOf(smallestGrants(all))
  const grants = smallestGrants(all.map((requirement) => atDefinitions(requirement, crowd)))
  const records = recordsOfGrants(grants, who)
  return {
    records: records.map((record) => ({
      record,
      times: timesOf(all, indexRecords([record]), who),
    })),
    needs: all.length + unknown,
    unmet: unknown + all.filter((requirement) => !isMet(requirement, indexRecords(records), who)).length,
    crowded: [...crowdedOf(grants)],
  }
}

/** Returns the permissions that would be granted on too many ids. */
function crowdedOf(grants: readonly Grant[]): ReadonlySet<string> {
  const ids = new Map<string, number>()
  for (const grant of grants) ids.set(nameOf(grant), (ids.get(nameOf(grant)) ?? 0) + 1)
  return new Set([...ids].flatMap(([name, count]) => (count > MAX_IDS ? [name] : [])))
}

function atDefinitions(requirement: Requirement, crowd: ReadonlySet<string>): Requirement {
  const isCrowded = requirement.anyOf.some((grant) => crowd.has(nameOf(grant)))
  const anyOf = requirement.anyOf.filter(({ resource }) => DEFINITIONS.has(resource))
  return isCrowded && anyOf.length > 0 ? { ...requirement, anyOf } : requirement
}

function nameOf({ resource, permission }: Grant): string {
  return `${resource}.${permission}`
}

type IndexedRecords = ReturnType<typeof indexRecords>

function timesOf(
  requirements: readonly Requirement[],
  records: IndexedRecords,
  who: SubjectNeeds['who'],
): number {
  return requirements.reduce(
    (sum, requirement) => (isMet(requirement, records, who) ? sum + (requirement.weight ?? 1) : sum),
    0,
  )
}

/** Returns whether the records meet a need, by the decision that a request would get. */
function isMet(
  { anyOf }: Requirement,
  records: IndexedRecords,
  { userId, groupId }: SubjectNeeds['who'],
): boolean {
  const principal = { userId: userId ?? '', groups: groupId == null ? [] : [groupId], tenants: [] }
  const alternatives = anyOf.map(({ resource, permission, resourceId }) => ({
    resource,
    permission,
    id: resourceId,
  }))
  return decideAny(records, principal, alternatives)
}
