import type { IsOwn, LookUp, ReadEngine } from './look-ups.ts'
import { readList } from './lookup-response.ts'
import { stringOf } from '../../../request/value.ts'

/** Where all is listed that a job may act on, by the sets that are not to be determined. */
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

/** Whether what the path's job acts on, whatever that is, is of no tenant or of the caller's. */
export function createIsOwn({ read, lookUp }: JobReachOptions): IsOwn {
  return async function isOwn(each, { params, principal }) {
    const list = LISTS.get(each)
    if (list === undefined) return false
    // A job of one definition's batch has its tenant, and so have that definition's instances.
    const tenantId = (await lookUp('executedJob', params['id'] ?? ''))?.['tenantId'] ?? null
    if (tenantId !== null) return principal.tenants.includes(tenantId)
    // Rows without a tenant stand together at one end: a row with one is the first of one of the two orders.
    for (const sortOrder of ['asc', 'desc']) {
      const path = `${list}?sortBy=tenantId&sortOrder=${sortOrder}&maxResults=1`
      const rows = await readList(read, { path, shape: { nullable: ['tenantId'] } })
      if (rows.some((row) => stringOf(row['tenantId']) !== null)) return false
    }
    return true
  }
}
