import { stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'
import { readList } from './lookup-response.ts'

/**
 * Finds the tenants that have process definitions of a key. A definition without a tenant adds null.
 * @throws GatewayError if the engine cannot respond
 */
export type TenantsOfKey = (key: string) => Promise<readonly (string | null)[] | 'too many'>

/** The engine returns one latest version for each tenant. A longer list is not read. */
const MAX_TENANTS = 2000

export function createTenantsOfKey(read: ReadEngine): TenantsOfKey {
  return async (key) => {
    const query = new URLSearchParams({ key, latestVersion: 'true', maxResults: `${MAX_TENANTS + 1}` })
    const path = `/process-definition?${query}`
    const items = await readList(read, { path, shape: { named: { key }, nullable: ['tenantId'] } })
    return items.length > MAX_TENANTS ? 'too many' : items.map(({ tenantId }) => stringOf(tenantId))
  }
}
