import type { HandlerContext } from '../pipeline/context.ts'
import type { DefaultRecord } from '../policy/authz/records/default-records.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { isRecord, jsonValueOf, stringIn } from '../request/value.ts'

/** Returns whether records are written or removed after the response of an operation. */
export function changesDefaultRecords({
  context: { engine, operation },
}: Pick<HandlerContext, 'context'>): boolean {
  const { defaultRecord, removesRecords } = operation
  return engine.defaultRecords !== null && (defaultRecord !== undefined || removesRecords !== undefined)
}

/**
 * Writes the record that a secured engine writes for the creator or owner of a new entity, or removes the records on a deleted one. The
 * change is in force before the client gets the response.
 */
export async function keepDefaultRecords(
  { context }: Pick<HandlerContext, 'context'>,
  { body }: BufferedResponse,
): Promise<void> {
  const { engine, operation, accessRequest } = context
  const { removesRecords } = operation
  if (engine.defaultRecords === null) return
  if (removesRecords !== undefined)
    await engine.defaultRecords.remove({
      resource: removesRecords,
      resourceId: accessRequest.params['id'] ?? '',
    })
  const record = defaultRecordOf(context, jsonValueOf(body))
  if (record !== null) await engine.defaultRecords.write(record)
  await engine.changed(['records'], '')
}

/** Returns the record for a new entity. Null if a secured engine writes none, or may write none. */
function defaultRecordOf(
  { operation, accessRequest, partNames }: HandlerContext['context'],
  created: unknown,
): DefaultRecord | null {
  if (operation.defaultRecord === undefined || !isRecord(created)) return null
  const { resource, permissions, user } = operation.defaultRecord
  const resourceId = stringIn(created, 'id')
  const userId = user === 'caller' ? accessRequest.principal.userId : stringIn(created, 'owner')
  if (resourceId === null || !isUser(userId)) return null
  if (operation.media === 'multipart' && mayBeFormer(partNames, created)) return null
  return { userId, resource, resourceId, permissions }
}

/** The engine writes no record for the user `*`, who means every user in other records. */
function isUser(userId: string | null): userId is string {
  return userId !== null && userId !== '' && userId !== '*'
}

/**
 * Returns whether the response may describe a deployment of another user: with duplicate filtering, the engine returns the former
 * deployment if nothing has changed. It then names no deployed definition.
 */
function mayBeFormer(
  partNames: ReadonlySet<string> | null,
  created: Readonly<Record<string, unknown>>,
): boolean {
  const isFiltered = partNames === null || DUPLICATE_FILTERS.some((name) => partNames.has(name))
  return isFiltered && DEPLOYED.every((member) => (created[member] ?? null) === null)
}

const DUPLICATE_FILTERS = ['enable-duplicate-filtering', 'deploy-changed-only'] as const
const DEPLOYED = [
  'deployedProcessDefinitions',
  'deployedCaseDefinitions',
  'deployedDecisionDefinitions',
  'deployedDecisionRequirementsDefinitions',
] as const
