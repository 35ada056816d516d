import { EngineRefusal, GatewayError } from '../../errors.ts'
import type { Operation } from '../../operations/table.ts'
import type { AccessRequest } from '../../request/access-request.ts'
import { bodyFlag, bodyText } from '../../request/body.ts'
import type { ReadEngine } from './entities/look-ups.ts'
import type { Permit } from './permit.ts'
import { isOfTenants } from './rows/rows.ts'
import { chain, type MaybePromise } from '../../request/maybe-promise.ts'
import { rowsOf } from './entities/start-finder.ts'
import { stringOf } from '../../request/value.ts'
import { PERMITTED, type Decision } from './checks/decision.ts'

/** The tenants that have definitions of a key; null: one has them without a tenant. */
export type TenantsOfKey = (key: string) => Promise<readonly (string | null)[]>

/** More tenants than this are not looked through. */
const MAX_TENANTS = 2000

const FOREIGN_KEY = 'Definitions of other tenants have this key: '
const NEEDED: Readonly<Record<'one tenant' | 'all', string>> = {
  'one tenant': 'processDefinitionTenantId or processDefinitionWithoutTenantId is needed',
  all: 'they can be told apart by id, or by key and tenant in the path',
}

export function createTenantsOfKey(read: ReadEngine): TenantsOfKey {
  return async (key) => {
    // One row for each tenant that has it.
    const query = new URLSearchParams({ key, latestVersion: 'true', maxResults: `${MAX_TENANTS + 1}` })
    const rows = rowsOf(await read(`/process-definition?${query}`))
    if (rows.length > MAX_TENANTS) throw new GatewayError('GW_CHECK_NOT_EXACT')
    return rows.map(({ tenantId }) => stringOf(tenantId))
  }
}

/** What a request does by a key, it does to its caller's tenants alone: a bare engine leaves no tenant out. */
export function keepToTenants(permit: Permit, tenantsOfKey: TenantsOfKey): Permit {
  const { byKey } = permit.operation
  if (byKey === undefined) return permit
  return {
    ...permit,
    before: (accessRequest, trace) =>
      chain(permit.before(accessRequest, trace), (decision) =>
        decision.permitted ? tenantDecision({ permit, byKey, tenantsOfKey }, accessRequest) : decision,
      ),
  }
}

interface ByKey {
  readonly permit: Permit
  readonly byKey: NonNullable<Operation['byKey']>
  readonly tenantsOfKey: TenantsOfKey
}

/** As the engine reads it: a tenant that is named counts before the flag. */
function tenantDecision(
  { permit, byKey, tenantsOfKey }: ByKey,
  { principal, body }: AccessRequest,
): MaybePromise<Decision> {
  const key = bodyText(body, 'processDefinitionKey')
  const tenants = permit.tenantsOf(principal)
  // With an id beside the key, the engine says that it takes only one of them.
  if (key === null || tenants === null || bodyText(body, 'processDefinitionId') !== null) return PERMITTED
  const named = byKey === 'one tenant' ? bodyText(body, 'processDefinitionTenantId') : null
  if (named !== null) return isOfTenants(named, tenants) ? PERMITTED : NOTHING_DONE
  if (byKey === 'one tenant' && bodyFlag(body, 'processDefinitionWithoutTenantId')) return PERMITTED
  return tenantsOfKey(key).then((all) =>
    all.every((one) => isOfTenants(one, tenants)) ? PERMITTED : refused(byKey),
  )
}

/** To whom another tenant is named, the engine finds nothing to change. */
const NOTHING_DONE: Decision = {
  permitted: false,
  refusal: new EngineRefusal({ status: 204, reason: 'another tenant is named' }),
}

function refused(byKey: ByKey['byKey']): Decision {
  const message = FOREIGN_KEY + NEEDED[byKey]
  return { permitted: false, refusal: new GatewayError('GW_CHECK_NOT_EXACT', { message }) }
}
