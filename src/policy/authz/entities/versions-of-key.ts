import type { AccessRequest } from '../../../request/access-request.ts'
import type { Attributes } from '../../../request/attributes.ts'
import { stringOf } from '../../../request/value.ts'
import type { ReadEngine } from './look-ups.ts'
import { readList } from './lookup-response.ts'

interface VersionsOptions {
  readonly read: ReadEngine
  /** The largest number of versions of a key that are read. */
  readonly max: number
}

/**
 * Finds every version of the process definitions that the path names by key, or by key and tenant, in the order in which the
 * engine's command checks them: by version, the newest first. Returns null if there are too many.
 */
export async function findVersionsOfKey(
  { params: { key = '', tenantId } }: AccessRequest,
  { read, max }: VersionsOptions,
): Promise<readonly Attributes[] | null> {
  const query = new URLSearchParams({ key, sortBy: 'version', sortOrder: 'desc', maxResults: `${max + 1}` })
  // The engine splits the parameter at commas and would search for other tenants.
  if (tenantId !== undefined && !tenantId.includes(',')) query.set('tenantIdIn', tenantId)
  const shape = { named: { key }, texts: ['id'], nullable: ['tenantId'] }
  const items = await readList(read, { path: `/process-definition?${query}`, shape })
  if (items.length > max) return null
  const versions = items.map((item) => ({
    id: stringOf(item['id']),
    key: stringOf(item['key']),
    tenantId: stringOf(item['tenantId']),
  }))
  return tenantId === undefined ? versions : versions.filter((version) => version.tenantId === tenantId)
}
