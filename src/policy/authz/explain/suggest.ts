import type { MissingPermission } from '../../../errors.ts'
import { decideAny } from '../decision/decide.ts'
import type { Grant, Need } from '../records/grants.ts'
import { needsOf, recordsOfGrants, smallestGrants } from '../records/grants.ts'
import type { AuthorizationRecord } from '../../../operations/authorization-record.ts'
import { indexRecords } from '../records/records.ts'

/** Something that was refused, or would have been, for want of records. */
export interface Observed {
  readonly user: string
  readonly missing: readonly MissingPermission[]
}

export interface Suggested {
  readonly record: AuthorizationRecord
  /** How often it would have been needed. */
  readonly times: number
}

export interface Suggestion {
  readonly records: readonly Suggested[]
  /** Different needs, and those that the records do not meet when they are tried: none, or a resource is not known here. */
  readonly needs: number
  readonly unmet: number
  /** More ids of one resource than a person would list, and no definition to grant instead: `TASK.READ`. */
  readonly crowded: readonly string[]
}

/** One whose records are looked for: a user, or the users of one group. */
interface Subject {
  readonly who: Pick<AuthorizationRecord, 'userId' | 'groupId'>
  readonly needs: Map<string, Need & { weight: number }>
  unknown: number
}

/** More ids than this are better granted by their definition, where that is an alternative. */
const MAX_IDS = 10
const DEFINITIONS: ReadonlySet<string> = new Set(['PROCESS_DEFINITION', 'DECISION_DEFINITION'])

/** Collects what was missing, and says which records would have been enough. */
export class Suggester {
  readonly #group: string | null
  readonly #subjects = new Map<string, Subject>()

  /** @param group whose members all the users are taken for; null: every user gets records of their own */
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

/** Permissions that would be granted on too many ids. */
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

/** The decision itself, as a request would have got it. */
function isMet({ anyOf }: Need, records: IndexedRecords, { userId, groupId }: Subject['who']): boolean {
  const principal = { userId: userId ?? '', groups: groupId == null ? [] : [groupId], tenants: [] }
  const alternatives = anyOf.map(({ resource, permission, resourceId }) => ({
    resource,
    permission,
    id: resourceId,
  }))
  return decideAny(records, principal, alternatives)
}
