import type { MissingPermission } from '../../../errors.ts'
import { decideAny } from '../decision/decide.ts'
import type { Grant, Need } from '../records/grants.ts'
import { needsOf, recordsOfGrants, smallestGrants } from '../records/grants.ts'
import type { AuthorizationRecord } from '../../../operations/authorization-record.ts'
import { indexRecords } from '../records/records.ts'

/** A request that was refused, or would have been refused, because records are missing. */
export interface Observed {
  readonly user: string
  readonly missing: readonly MissingPermission[]
}

export interface Suggested {
  readonly record: AuthorizationRecord
  /** How often the record would have been needed. */
  readonly times: number
}

export interface Suggestion {
  readonly records: readonly Suggested[]
  /** The number of different needs, and of those that remain unmet when the records are tried: there are no records, or a resource is not known. */
  readonly needs: number
  readonly unmet: number
  /** Permissions on more ids than a person would list, without a definition that could be granted instead, for example `TASK.READ`. */
  readonly crowded: readonly string[]
}

/** A subject that needs records: one user, or the users of one group. */
interface Subject {
  readonly who: Pick<AuthorizationRecord, 'userId' | 'groupId'>
  readonly needs: Map<string, Need & { weight: number }>
  unknown: number
}

/** If there are more ids than this, a grant on their definition is better, if it is an alternative. */
const MAX_IDS = 10
const DEFINITIONS: ReadonlySet<string> = new Set(['PROCESS_DEFINITION', 'DECISION_DEFINITION'])

/** Collects missing permissions and suggests the records that would have been sufficient. */
export class Suggester {
  readonly #group: string | null
  readonly #subjects = new Map<string, Subject>()

  /** @param group the group to which all users are assumed to belong; null if every user gets records of their own */
  constructor(group: string | null = null) {
    this.#group = group
  }

  add({ user, missing }: Observed): void {
    const subject = this.#subjectOf(user)
    const needs = needsOf(missing)
    if (needs.length < new Set(missing.map(({ need }) => need)).size) subject.unknown += 1
    for (const need of needs) {
      const key = JSON.stringify(need.anyOf)
      const known = subject.needs.get(key)
      if (known === undefined) subject.needs.set(key, { ...need, weight: 1 })
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

  #subjectOf(user: string): Subject {
    const key = this.#group ?? user
    const known = this.#subjects.get(key)
    if (known !== undefined) return known
    const who = this.#group === null ? { userId: user } : { groupId: this.#group }
    const made: Subject = { who, needs: new Map(), unknown: 0 }
    this.#subjects.set(key, made)
    return made
  }
}

function suggestFor({ who, needs, unknown }: Subject): Suggestion {
  const all = [...needs.values()]
  const crowd = crowdedOf(smallestGrants(all))
  const grants = smallestGrants(all.map((need) => atDefinitions(need, crowd)))
  const records = recordsOfGrants(grants, who)
  return {
    records: records.map((record) => ({
      record,
      times: timesOf(all, indexRecords([record]), who),
    })),
    needs: all.length + unknown,
    unmet: unknown + all.filter((need) => !isMet(need, indexRecords(records), who)).length,
    crowded: [...crowdedOf(grants)],
  }
}

/** Returns the permissions that would be granted on too many ids. */
function crowdedOf(grants: readonly Grant[]): ReadonlySet<string> {
  const ids = new Map<string, number>()
  for (const grant of grants) ids.set(nameOf(grant), (ids.get(nameOf(grant)) ?? 0) + 1)
  return new Set([...ids].flatMap(([name, count]) => (count > MAX_IDS ? [name] : [])))
}

function atDefinitions(need: Need, crowd: ReadonlySet<string>): Need {
  const isCrowded = need.anyOf.some((grant) => crowd.has(nameOf(grant)))
  const anyOf = need.anyOf.filter(({ resource }) => DEFINITIONS.has(resource))
  return isCrowded && anyOf.length > 0 ? { ...need, anyOf } : need
}

function nameOf({ resource, permission }: Grant): string {
  return `${resource}.${permission}`
}

type IndexedRecords = ReturnType<typeof indexRecords>

function timesOf(needs: readonly Need[], records: IndexedRecords, who: Subject['who']): number {
  return needs.reduce((sum, need) => (isMet(need, records, who) ? sum + (need.weight ?? 1) : sum), 0)
}

/** Returns whether the records meet a need, by the decision that a request would get. */
function isMet({ anyOf }: Need, records: IndexedRecords, { userId, groupId }: Subject['who']): boolean {
  const principal = { userId: userId ?? '', groups: groupId == null ? [] : [groupId], tenants: [] }
  const alternatives = anyOf.map(({ resource, permission, resourceId }) => ({
    resource,
    permission,
    id: resourceId,
  }))
  return decideAny(records, principal, alternatives)
}
