import { messageOf, operatorText, ownText } from '../../../errors.ts'
import { GRANT } from '../../../operations/authorization-record.ts'
import { type ResourceName, RESOURCES } from '../../../operations/permissions.ts'
import { type AskEngine, invalidResponse, jsonOf } from '../../../request/engine-request.ts'
import { isRecord, stringIn } from '../../../request/value.ts'

/** A record that a secured engine writes together with a new entity. */
export interface DefaultRecord {
  readonly userId: string
  readonly resource: ResourceName
  readonly resourceId: string
  readonly permissions: readonly string[]
}

/** Writes and removes records in an engine as a secured engine does. A failure is reported, and changes no response. */
export interface DefaultRecords {
  /** Writes the record unless the engine has a GRANT of this user on this entity. Never rejects. */
  readonly write: (record: DefaultRecord) => Promise<void>
  /** Removes all records on a deleted entity. Never rejects. */
  readonly remove: (entity: Pick<DefaultRecord, 'resource' | 'resourceId'>) => Promise<void>
}

export type DefaultRecordResult = 'written' | 'present' | 'removed' | 'failed'

interface DefaultRecordsOptions {
  readonly ask: AskEngine
  /** Called with the number of records, or with the problem of a failure. */
  readonly onResult: (result: DefaultRecordResult, problem: string | null) => void
}

const LIST = ownText('GET /authorization')
const CREATION = ownText('POST /authorization/create')
const DELETION = ownText('DELETE /authorization/{id}')

const MAX_BYTES = 1024 ** 2
/** The client waits for the record, so an engine that hangs must not delay the response for long. */
const HEADERS_MS = 10_000
const BOUNDS = { limitBytes: MAX_BYTES, headersMs: HEADERS_MS } as const

export function createDefaultRecords({ ask, onResult }: DefaultRecordsOptions): DefaultRecords {
  /** Returns the ids of the records that match the query. The engine may compare ids without their case, so they are compared again. */
  async function idsOf(
    query: Readonly<Record<string, string>>,
    { resource, resourceId, userId }: Pick<DefaultRecord, 'resource' | 'resourceId'> & { userId?: string },
  ): Promise<readonly string[]> {
    const about = { resourceType: String(RESOURCES[resource].id), resourceId, ...query }
    const path = `/authorization?${new URLSearchParams(about)}`
    const list = jsonOf(await ask({ method: 'GET', path, ...BOUNDS }), LIST)
    if (!Array.isArray(list)) throw invalidResponse(operatorText`The engine's response to ${LIST} is no list`)
    return list.flatMap((record: unknown) => {
      if (!isRecord(record) || record['resourceId'] !== resourceId) return []
      if (userId !== undefined && record['userId'] !== userId) return []
      return stringIn(record, 'id') ?? []
    })
  }

  async function write(record: DefaultRecord): Promise<DefaultRecordResult> {
    const { userId, resource, resourceId, permissions } = record
    const present = await idsOf({ type: String(GRANT), userIdIn: userId }, record)
    if (present.length > 0) return 'present'
    const path = '/authorization/create'
    const body = { type: GRANT, userId, resourceType: RESOURCES[resource].id, resourceId, permissions }
    jsonOf(await ask({ method: 'POST', path, body, ...BOUNDS }), CREATION)
    return 'written'
  }

  async function remove({
    resource,
    resourceId,
  }: Pick<DefaultRecord, 'resource' | 'resourceId'>): Promise<void> {
    for (const id of await idsOf({}, { resource, resourceId })) {
      const path = `/authorization/${encodeURIComponent(id)}`
      const { status } = await ask({ method: 'DELETE', path, ...BOUNDS })
      if (status !== 204 && status !== 404)
        throw invalidResponse(operatorText`The engine responded to ${DELETION} with status ${status}`)
      onResult('removed', null)
    }
  }

  const onFailure = (error: unknown): void => onResult('failed', messageOf(error))
  return {
    write: (record) => write(record).then((result) => onResult(result, null), onFailure),
    remove: (entity) => remove(entity).catch(onFailure),
  }
}
