import { ownText, operatorText } from '../errors.ts'
import type { StoredRecord } from '../operations/authorization-record.ts'
import { RECORDS_PATH, storedRecordsOf } from '../policy/authz/records/stored-records.ts'
import { invalidResponse, jsonIn } from '../request/engine-request.ts'
import { isRecord } from '../request/value.ts'
import { type EngineReading, readEngineList } from './read-list.ts'

/** A record with the id that the engine gave it. */
export interface IdentifiedRecord extends StoredRecord {
  readonly id: string
  readonly removalTime?: unknown
}

/** A user, a group or a tenant. */
export interface EngineEntity {
  readonly id: string
  /** The other members of the engine's response that are not empty. */
  readonly details: Readonly<Record<string, unknown>>
}

export interface EngineGroup extends EngineEntity {
  readonly members: readonly string[]
}

export interface EngineTenant extends EngineEntity {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** The users, groups and tenants of an engine. */
export interface EngineIdentities {
  readonly users: readonly EngineEntity[]
  readonly groups: readonly EngineGroup[]
  readonly tenants: readonly EngineTenant[]
}

/** Reads users, groups, tenants and their members. @throws GatewayError, TransferError */
export async function readIdentities(reading: EngineReading): Promise<EngineIdentities> {
  const idsAt = async (path: string, what: string) =>
    (await readEntities(reading, path, what)).map(({ id }) => id)
  const users = await readEntities(reading, '/user', 'users')
  const groups: EngineGroup[] = []
  for (const group of await readEntities(reading, '/group', 'groups')) {
    const id = encodeURIComponent(group.id)
    groups.push({ ...group, members: await idsAt(`/user?memberOfGroup=${id}`, 'members of a group') })
  }
  const tenants: EngineTenant[] = []
  for (const tenant of await readEntities(reading, '/tenant', 'tenants')) {
    const id = encodeURIComponent(tenant.id)
    tenants.push({
      ...tenant,
      users: await idsAt(`/user?memberOfTenant=${id}`, 'users of a tenant'),
      groups: await idsAt(`/group?memberOfTenant=${id}`, 'groups of a tenant'),
    })
  }
  return { users, groups, tenants }
}

/** Reads the authorization records. @throws GatewayError, TransferError */
export function readRecords(reading: EngineReading): Promise<readonly IdentifiedRecord[]> {
  return readEngineList(reading, {
    path: RECORDS_PATH,
    what: 'authorizations',
    itemsIn: (body) =>
      storedRecordsOf(body).map((record) => {
        if (typeof record.id === 'string') return { ...record, id: record.id }
        throw invalidResponse(
          operatorText`The engine's response to ${ownText(RECORDS_PATH)} has a record without an id`,
        )
      }),
  })
}

function readEntities(reading: EngineReading, path: string, what: string): Promise<readonly EngineEntity[]> {
  return readEngineList(reading, { path, what, itemsIn: (body) => entitiesIn(body, path) })
}

function entitiesIn(body: Buffer, path: string): readonly EngineEntity[] {
  const what = ownText(path)
  const list = jsonIn(body, what)
  if (!Array.isArray(list))
    throw invalidResponse(operatorText`The engine's response to ${what} is not a list`)
  return list.map((one: unknown) => {
    if (!isRecord(one) || typeof one['id'] !== 'string')
      throw invalidResponse(operatorText`The engine's response to ${what} has an item without an id`)
    const details = Object.entries(one).filter(([key, value]) => key !== 'id' && isFilled(value))
    return { id: one['id'], details: Object.fromEntries(details) }
  })
}

function isFilled(value: unknown): boolean {
  return (
    value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
  )
}
