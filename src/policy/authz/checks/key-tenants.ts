import { type OperatorText, EngineRefusal, GatewayError, operatorText } from '../../../errors.ts'
import type { BodyReach } from '../../../operations/acts-on-key.ts'
import type { AccessRequest } from '../../../request/access-request.ts'
import { bodyFlag, bodyText } from '../../../request/body.ts'
import type { MaybePromise } from '../../../request/maybe-promise.ts'
import type { TenantsOfKey } from '../entities/tenants-of-key.ts'
import { type Decision, PERMITTED } from './decision.ts'
import { UNDECIDABLE } from './evaluate.ts'

interface KeyTenantsOptions {
  readonly tenantsOfKey: TenantsOfKey
  /** The caller's tenants; null if tenants restrict nothing. */
  readonly tenants: readonly string[] | null
}

const FOREIGN_KEY = operatorText`Definitions of other tenants also have this key: `
const NEEDED: Readonly<Record<BodyReach, OperatorText>> = {
  'versions that the body names': operatorText`set processDefinitionTenantId or processDefinitionWithoutTenantId`,
  'all versions': operatorText`use the id, or the key and the tenant in the path`,
}

/**
 * Decides whether everything that the body names by a definition's key belongs to the caller's tenants. An engine without
 * authorization changes the definitions of every tenant. As in the engine, a tenant in the body takes precedence over the
 * flag `processDefinitionWithoutTenantId`.
 */
export function decideKeyTenants(
  reach: BodyReach,
  { body }: AccessRequest,
  { tenantsOfKey, tenants }: KeyTenantsOptions,
): MaybePromise<Decision> {
  const key = bodyText(body, 'processDefinitionKey')
  // The engine itself refuses a body that has both a key and an id.
  if (key === null || tenants === null || bodyText(body, 'processDefinitionId') !== null) return PERMITTED
  const isNamed = reach === 'versions that the body names'
  const named = isNamed ? bodyText(body, 'processDefinitionTenantId') : null
  if (named !== null) return tenants.includes(named) ? PERMITTED : NOTHING_DONE
  if (isNamed && bodyFlag(body, 'processDefinitionWithoutTenantId')) return PERMITTED
  return tenantsOfKey(key).then((found) => {
    if (found === 'too many') return UNDECIDABLE
    const isOwn = found.every((tenant) => tenant === null || tenants.includes(tenant))
    return isOwn ? PERMITTED : refusedFor(reach)
  })
}

/** The refusal of a body that names a tenant of which the caller is not a member. A secured engine then changes nothing and responds 204. */
const NOTHING_DONE: Decision = {
  permitted: false,
  refusal: new EngineRefusal({ status: 204, reason: operatorText`another tenant is named` }),
}

function refusedFor(reach: BodyReach): Decision {
  const message = operatorText`${FOREIGN_KEY}${NEEDED[reach]}`
  return { permitted: false, refusal: new GatewayError('GW_CHECK_NOT_EXACT', { message }) }
}
