import { z } from 'zod'
import { isMapping } from '../config/mapping.ts'
import { OF_A_FILE } from '../config/config-problems.ts'
import { ConfigError } from '../config/config.ts'
import { closestOf } from '../config/closest.ts'
import { meantText } from '../config/plain-messages.ts'
import { isShownName } from '../config/shown-name.ts'
import { bitOf, isResource, RESOURCES } from '../operations/permissions.ts'
import { parseText, shaped } from './file-problems.ts'
import type { AuthorizationRecord, StoredRecord } from '../operations/authorization-record.ts'
import { resourceOfType } from '../operations/authorization-record.ts'
import { GLOBAL } from '../operations/authorization-record.ts'

const text = z.string().min(1)

const RESOURCE_NAMES = Object.keys(RESOURCES)

// The members of GET /authorization and of the response to POST /authorization/create. A request to create a record has no id, and
// not the last three. The gateway uses none of these four members.
const record = z.strictObject({
  id: text.nullish(),
  type: z.literal([0, 1, 2]),
  permissions: z.array(z.string()),
  userId: text.nullish(),
  groupId: text.nullish(),
  resourceType: z.int({ error: ({ input }) => resourceTypeMessage(input) }),
  resourceId: text,
  removalTime: z.string().nullish(),
  rootProcessInstanceId: z.string().nullish(),
  links: z.array(z.unknown()).nullish(),
})

/** Returns the message about a value that is not a number. A name of a resource is answered with its number. */
function resourceTypeMessage(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined
  const name = closestOf(given.replaceAll(/[\s-]/g, '_'), RESOURCE_NAMES)
  const meant = name !== null && isResource(name) ? `: ${name} is ${RESOURCES[name].id}` : ''
  return `a whole number is needed${meant}`
}

type FileRecord = z.infer<typeof record>

const list = z.array(record)
const mapping = z.strictObject({ authorizations: list }, OF_A_FILE)

/**
 * Returns the records in the text of an authorizations.yaml, or in a response of an engine: a list of records, or one record.
 * @throws ConfigError that names every record that an engine would refuse
 */
export function recordsOf(content: string, file = 'authorizations.yaml'): readonly AuthorizationRecord[] {
  const read = parseText(file, content)
  const value = isSingle(read) ? [read] : read
  const root = Array.isArray(value) ? '' : 'authorizations'
  const records = validRecordsIn(value) ?? shapedRecords(file, value)
  const seen = new Map<string, number>()
  const problems = records.flatMap((one, at) => {
    const key = recordKeyOf(one)
    const first = seen.get(key)
    if (first === undefined) seen.set(key, at)
    const twice = first === undefined ? [] : [`has the same type, subject and resource as ${root}[${first}]`]
    return [...subjectProblems(one), ...permissionProblems(one), ...twice].map(
      (problem) => `${root}[${at}]: ${problem}`,
    )
  })
  if (problems.length > 0) throw new ConfigError(file, problems)
  return records
}

/** Returns whether a value is the response of GET /authorization/{id} or POST /authorization/create. */
function isSingle(value: unknown): boolean {
  return isMapping(value) && 'resourceType' in value && !('authorizations' in value)
}

/** Returns the records, or null if one is invalid. The records are not copied, because the copy of a long list needs much memory. */
function validRecordsIn(value: unknown): readonly FileRecord[] | null {
  const items = isMapping(value) && Object.keys(value).length === 1 ? value['authorizations'] : value
  return Array.isArray(items) && items.every(isFileRecord) ? items : null
}

function isFileRecord(value: unknown): value is FileRecord {
  return record.safeParse(value).success
}

function shapedRecords(file: string, value: unknown): readonly FileRecord[] {
  return Array.isArray(value) ? shaped(file, list, value) : shaped(file, mapping, value).authorizations
}

function subjectProblems({ type, userId, groupId }: FileRecord): string[] {
  const group = groupId ?? null
  if (type !== GLOBAL)
    return ((userId ?? null) === null) === (group === null) ? ['needs exactly one of userId and groupId'] : []
  return [
    ...(group === null ? [] : ['a GLOBAL record (type 0) applies to all users and must not have a groupId']),
    ...((userId ?? '*') === '*'
      ? []
      : ["a GLOBAL record (type 0) applies to all users: set userId to '*' or leave it out"]),
  ]
}

function permissionProblems({ resourceType, permissions }: FileRecord): string[] {
  const resource = resourceOfType(resourceType)
  if (resource === null)
    return [`resourceType ${resourceType} is not a resource type of the engine (0 to 21)`]
  const names = [...Object.keys(RESOURCES[resource].permissions), 'ALL']
  return permissions
    .filter((permission) => bitOf(resource, permission) === null)
    .map(
      (permission) =>
        `${isShownName(permission) ? `'${permission}'` : 'a value'} is not a permission of ${resource} (${resourceType}), which has ${names.slice(0, -1).join(', ')} and ALL${isShownName(permission) ? meantText(closestOf(permission, names)) : ''}`,
    )
}

/**
 * Returns the key of a record. The engine's database has one record for each key: with two, it would be undefined which of them
 * an update changes.
 */
export function recordKeyOf({
  type,
  userId,
  groupId,
  resourceType,
  resourceId,
}: Omit<StoredRecord, 'permissions'>): string {
  return JSON.stringify([
    type,
    type === GLOBAL ? '*' : (userId ?? null),
    groupId ?? null,
    resourceType,
    resourceId,
  ])
}
