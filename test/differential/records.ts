import type { EngineSettings } from './engine-settings.ts'
import { inParallel } from './in-parallel.ts'
import { type Admin, type Json, rowsOf, textOf } from './admin.ts'
import { mapTexts, type Names, type Side } from './names.ts'
import type { RecordText } from './sets.ts'

/** Creates a record as an administrator. */
export async function writeRecord(
  { attempt }: Admin,
  record: RecordText,
  { names, side }: { names: Names; side: Side },
): Promise<void> {
  const resourceId = names.reveal(side, record.resourceId)
  const answer = await attempt('POST', '/authorization/create', { ...record, resourceId })
  const text = answer.bytes.toString('utf8')
  // The engine may have created a record with the same key automatically, for a candidate or a member.
  if (answer.status >= 300 && !text.includes('ProcessEnginePersistenceException'))
    throw new Error(`${JSON.stringify(record)}: ${answer.status} ${text}`)
}

/** Returns all records of an engine by their keys. A key is unique, and contains names instead of ids. */
export async function readRecords(
  { call }: Admin,
  names: Names,
  side: Side,
): Promise<ReadonlyMap<string, Json>> {
  const rows = rowsOf(await call('GET', '/authorization'))
  return new Map(rows.map((row) => [keyOf(row, names, side), row]))
}

function keyOf(row: Json, names: Names, side: Side): string {
  const members = ['type', 'userId', 'groupId', 'resourceType', 'resourceId']
  return names.mask(
    side,
    members.map((member) => JSON.stringify(row[member] ?? '').replaceAll('"', '')).join(' '),
  )
}

/**
 * Copies the records that only the secured engine has to the bare engine, and names all records. A secured engine creates some records
 * automatically, and a bare engine never does. Returns the records of the bare engine, which the gateway uses for its decisions.
 */
export async function mirrorRecords(
  admins: Readonly<Record<Side, Admin>>,
  names: Names,
): Promise<readonly Json[]> {
  const wanted = await readRecords(admins.secured, names, 'secured')
  const held = await readRecords(admins.bare, names, 'bare')
  await inParallel([...wanted], 8, async ([key, row]) => {
    if (held.has(key)) return
    const named = mapTexts({ ...row }, (text) => names.mask('secured', text))
    const { type, permissions, userId, groupId, resourceType, resourceId } = row
    const translated = textOf(named, 'resourceId')
    if (/<id>/.test(translated))
      throw new Error(`A record is about something without a name: ${String(resourceId)}`)
    const record = {
      type,
      permissions,
      userId,
      groupId,
      resourceType,
      resourceId: names.reveal('bare', translated),
    }
    await admins.bare.call('POST', '/authorization/create', record)
  })
  const mirrored = await readRecords(admins.bare, names, 'bare')
  for (const [side, rows] of [
    ['secured', wanted],
    ['bare', mirrored],
  ] as const)
    for (const [key, row] of rows) nameRecord(names, side, { key, row })
  return [...mirrored.values()]
}

function nameRecord(names: Names, side: Side, { key, row }: { key: string; row: Json }): void {
  const name = `auth.${key
    .replace(/<\w+\.([^<>]*)>/g, '$1')
    .replace(/ +/g, '.')
    .replace(/[^\w.*@-]/g, '-')}`
  names.define(side, name, textOf(row, 'id'))
  names.describe(name, { AUTHORIZATION: `<${name}>` })
}

/** Returns whether an engine creates a record automatically. The gateway must derive the grant of such a record without it. */
export function isImplied(
  { type, permissions, userId, groupId, resourceType, resourceId }: Json,
  settings: EngineSettings,
): boolean {
  if (type !== 1 || !Array.isArray(permissions)) return false
  const said = permissions.join(',')
  if (resourceType === USER) return said === 'ALL' && userId === resourceId
  if (resourceType === GROUP) return said === 'READ' && groupId === resourceId
  return resourceId !== '*' && isOfCreated({ permissions, userId, resourceType }, settings)
}

/** Returns whether these are the permissions for the owner of a filter, for the member of a tenant or for a link to a task. */
function isOfCreated(
  {
    permissions,
    userId,
    resourceType,
  }: { permissions: readonly unknown[]; userId: unknown; resourceType: unknown },
  settings: EngineSettings,
): boolean {
  const said = permissions.join(',')
  if (resourceType === FILTER) return said === 'ALL' && userId !== null
  if (resourceType === TENANT) return said === 'READ'
  return resourceType === TASK && isOfLink(permissions, settings)
}

/** Returns whether these are the permissions that an engine with these settings grants for a link to a task. */
function isOfLink(
  permissions: readonly unknown[],
  { taskPermission, specificVariables }: EngineSettings,
): boolean {
  const granted = ['READ', taskPermission, ...(specificVariables ? ['READ_VARIABLE'] : [])]
  return permissions.length === granted.length && granted.every((name) => permissions.includes(name))
}

const USER = 1
const GROUP = 2
const FILTER = 5
const TASK = 7
const TENANT = 11
