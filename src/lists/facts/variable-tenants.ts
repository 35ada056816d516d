import { LRUCache } from 'lru-cache'
import type { ReadEngine } from '../../policy/authz/entities/look-ups.ts'
import { itemsIn } from '../../policy/authz/entities/lookup-response.ts'
import { countIn } from '../../request/engine-request.ts'
import { stringIn } from '../../request/value.ts'
import { mapSideBySide } from '../side-by-side.ts'
import { MAX_CONDITION_VALUES, MAX_READ_ITEMS, MAX_TENANTS, OBSERVATION_MS } from '../limits.ts'
import type { SortOrder } from '../../operations/prefilters.ts'
import type { DefinitionLists } from './definition-lists.ts'

export interface VariableTenants {
  /** Reads the tenants of all running variables. Null if there are too many. */
  readonly variableTenants: () => Promise<readonly string[] | null>
  /** Returns the last result of `variableTenants`. Null if it is older than a minute. */
  readonly recentVariableTenants: () => readonly string[] | null
}

/**
 * Creates a reader of the tenants of running variables. They may differ from the engine's list of tenants: a deployment or a task may
 * name any tenant. A variable has the tenant of its owner, and there are fewer owners than variables. All owners without a tenant are
 * at one end of a list that is sorted by tenant. If the owners of the tenants of definitions are as many as those before this end, no
 * other tenant has variables. Otherwise the first variable of each tenant is read, and the count of the tenant's variables gives the
 * position of the next tenant. A caller of `recentVariableTenants` must also read the tenants again, because a count would include
 * the variables of a new tenant.
 */
export function createVariableTenants(
  read: ReadEngine,
  { definitions, nullsFirst }: Pick<DefinitionLists, 'definitions' | 'nullsFirst'>,
): VariableTenants {
  const countOf = async (list: string, tenants: readonly string[]): Promise<number> => {
    if (tenants.length === 0) return 0
    const counted = await read(`${list}/count`, { tenantIdIn: tenants })
    return isMissing(list, counted) ? 0 : countIn(counted)
  }
  /** Returns the tenant at this position of a list. Null without a tenant, and after the end of the list. */
  const tenantAt = async (list: string, position: number, sortOrder: SortOrder): Promise<string | null> => {
    const paging = { firstResult: String(position), maxResults: '1' }
    const query = new URLSearchParams({ ...listingOf(list), sortBy: 'tenantId', sortOrder, ...paging })
    const path = `${list}?${query}`
    const items = await read(path)
    if (isMissing(list, items)) return null
    const [item] = itemsIn(items, { path, shape: { nullable: ['tenantId'] } })
    return item === undefined ? null : stringIn(item, 'tenantId')
  }
  const searchedTenants = async (): Promise<readonly string[] | null> => {
    const ascending = await tenantAt(VARIABLES, 0, 'asc')
    const order = ascending === null ? 'desc' : 'asc'
    let tenant = ascending ?? (await tenantAt(VARIABLES, 0, 'desc'))
    const tenants = new Set<string>()
    for (let position = 0; tenant !== null; tenant = await tenantAt(VARIABLES, position, order)) {
      // Other clients may have removed variables, so the position may be that of the same tenant.
      tenants.add(tenant)
      if (tenants.size > MAX_TENANTS) return null
      position += Math.max(1, await countOf(VARIABLES, [tenant]))
    }
    return [...tenants]
  }
  const readTenants = async (): Promise<readonly string[] | null> => {
    const nulls = await nullsFirst()
    const tenants = nulls === null ? null : await definitionTenants(definitions)
    if (tenants === null) return searchedTenants()
    const nextTenants = await mapSideBySide(OWNERS, async (list) =>
      tenantAt(list, await countOf(list, tenants), nulls === 'asc' ? 'desc' : 'asc'),
    )
    return nextTenants.every((tenant) => tenant === null) ? tenants : searchedTenants()
  }
  const recent = new LRUCache<typeof RECENT, readonly string[]>({ max: 1, ttl: OBSERVATION_MS })
  return {
    variableTenants: async () => {
      const tenants = await readTenants()
      recent.set(RECENT, tenants ?? undefined)
      return tenants
    },
    recentVariableTenants: () => recent.get(RECENT) ?? null,
  }
}

const RECENT = 'tenants'
const VARIABLES = '/variable-instance'
const CASES = '/case-instance'
/** The lists of everything that has variables. */
const OWNERS = ['/process-instance', CASES, '/task'] as const

/** Returns whether an engine has no list of cases. It has all other lists. */
function isMissing(list: string, response: unknown): boolean {
  return response === null && list === CASES
}

function listingOf(list: string): Readonly<Record<string, string>> {
  return list === VARIABLES ? { deserializeValues: 'false' } : {}
}

/** Returns the tenants of process definitions. Null if they or the definitions are too many. */
async function definitionTenants(
  definitions: DefinitionLists['definitions'],
): Promise<readonly string[] | null> {
  const found = await definitions({ keys: null, isLatest: true, max: MAX_READ_ITEMS })
  if (found === null) return null
  const tenants = new Set(found.flatMap(({ tenantId }) => tenantId ?? []))
  return tenants.size > MAX_CONDITION_VALUES ? null : [...tenants]
}
