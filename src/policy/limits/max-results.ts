import { operatorText, type EngineRefusal, jsonRefusalOf } from '../../errors.ts'
import { queryOf } from '../../request/canonical.ts'
import { JAVA_INTEGER, integerOf } from '../../request/paging.ts'
import type { Principal } from '../../request/principal.ts'
import { withParameter } from '../../request/target.ts'

/** A number of items. */
type Limit = number | 'unlimited'

/** The section `limits.maxResults`. */
interface MaxResultsSettings {
  readonly items: number
  readonly excess: 'refuse' | 'limit' | 'report'
  readonly users: Readonly<Record<string, Limit>>
  readonly groups: Readonly<Record<string, Limit>>
}

type Query = ReadonlyMap<string, string>
type Caller = Pick<Principal, 'userId' | 'groups'>

/** Limits the number of items that a caller may request from a list. */
export interface MaxResults {
  /** `report`: an excessive query is counted and logged, and continues. */
  readonly mode: 'enforce' | 'report'
  /** Returns the query string as it is checked and sent: with the limit of the caller if it replaces an excessive number. */
  readonly searchOf: (caller: Caller, search: string) => string
  /** Returns the refusal of a query with a number of items above the limit of the caller, or without a number. */
  readonly refusalOf: (caller: Caller, query: Query) => EngineRefusal | null
}

export function createMaxResults({ items, excess, users, groups }: MaxResultsSettings): MaxResults {
  const limits = { users: new Map(Object.entries(users)), groups: new Map(Object.entries(groups)) }

  function limitOf({ userId, groups: memberships }: Caller): number {
    const own = limits.users.get(userId)
    if (own !== undefined) return numberOf(own)
    const ofGroups = memberships.flatMap((group) => limits.groups.get(group) ?? []).map(numberOf)
    return ofGroups.length === 0 ? items : Math.max(...ofGroups)
  }

  return {
    mode: excess === 'report' ? 'report' : 'enforce',
    searchOf: (caller, search) => {
      if (excess !== 'limit') return search
      const limit = limitOf(caller)
      return excessOf(queryOf(search), limit) === null
        ? search
        : withParameter(search, 'maxResults', String(limit))
    },
    refusalOf: (caller, query) => excessOf(query, limitOf(caller)),
  }
}

function numberOf(limit: Limit): number {
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : limit
}

/**
 * Returns the refusal of an engine with `queryMaxResultsLimit` for a query. Null if the query stays within the limit, or if the
 * engine cannot read its numbers and refuses it for this reason. The engine accepts every negative number. Here only -1 is
 * accepted, for which it finds nothing: there are databases that read any other negative number as no limit.
 */
function excessOf(query: Query, limit: number): EngineRefusal | null {
  if (limit === Number.POSITIVE_INFINITY) return null
  const max = integerOf(query.get('maxResults'))
  if (Number.isNaN(max) || Number.isNaN(integerOf(query.get('firstResult')))) return null
  if (max === null || max === JAVA_INTEGER.max || max < -1) return refusal(UNBOUND)
  return max > limit ? refusal(`Max results limit of ${limit} exceeded!`) : null
}

const UNBOUND = 'An unbound number of results is forbidden!'

function refusal(message: string): EngineRefusal {
  return jsonRefusalOf(
    400,
    { type: 'BadUserRequestException', message, code: 0 },
    operatorText`limits.maxResults`,
  )
}
