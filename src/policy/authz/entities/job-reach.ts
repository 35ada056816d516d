import type { IsOwn, LookUp, ReadEngine } from './look-ups.ts'
import { readList } from './lookup-response.ts'
import { stringOf } from '../../../request/value.ts'

/** The lists of everything that a job may act on, for the sets that cannot be determined. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['jobDefinitions', '/process-definition'],
  ['jobHistoricInstances', '/history/process-instance'],
  ['jobInstances', '/process-instance'],
  ['jobJobs', '/job'],
])

interface JobReachOptions {
  readonly read: ReadEngine
  readonly lookUp: LookUp
}

/** Creates a function that returns whether everything that the path's job may act on belongs to no tenant or to one of the caller's. */
export function createIsOwn({ read, lookUp }: JobReachOptions): IsOwn {
  return async function isOwn(each, { params, principal }) {
    const list = LISTS.get(each)
    if (list === undefined) return false
    // A job of a batch for one definition has the definition's tenant, and the definition's instances have the same tenant.
    const tenantId = (await lookUp('executedJob', params['id'] ?? ''))?.['tenantId'] ?? null
    if (tenantId !== null) return principal.tenants.includes(tenantId)
    // Items without a tenant are at one end of the list. If an item has a tenant, it is first in one of the two orders.
    for (const sortOrder of ['asc', 'desc']) {
      const path = `${list}?sortBy=tenantId&sortOrder=${sortOrder}&maxResults=1`
      const items = await readList(read, { path, shape: { nullable: ['tenantId'] } })
      if (items.some((item) => stringOf(item['tenantId']) !== null)) return false
    }
    return true
  }
}
