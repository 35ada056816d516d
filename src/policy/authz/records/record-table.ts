import {
  GLOBAL,
  GRANT,
  resourceOfType,
  REVOKE,
  type StoredRecord,
} from '../../../operations/authorization-record.ts'
import { permissionsIn } from '../../../operations/permissions.ts'
import { addEntry, emptyIndex, entryOf, isPartlyRead, type RecordEntry, type RecordIndex } from './records.ts'

/** A list of records in a form that another thread receives in a short time. Each name is present once. */
export interface RecordTable {
  /** The ids of users, groups, resources and records. */
  readonly names: readonly string[]
  readonly rows: RecordRows
}

export interface RecordRows {
  /** `ROW` numbers for each record. */
  readonly numbers: Int32Array<ArrayBuffer>
  readonly resourceTypes: readonly number[]
  /** The number of records that say less here than in their engine. */
  readonly partlyRead: number
}

/**
 * The numbers of a record: type, user, group, resource type, resource id, bits, id, and 1 if the record says less here than in its
 * engine. Users, groups, resource types and ids are positions in a list.
 */
const ROW = 8
const ID = 6
const IS_PARTLY_READ = 7
/** The position of a name that a record does not have. */
const ABSENT = -1
/** The number of records that are indexed between two pauses. It takes about a millisecond. */
const RECORDS_OF_A_STEP = 500

export function tableOf(records: readonly StoredRecord[]): RecordTable {
  const names = new Map<string, number>()
  const resourceTypes = new Map<number, number>()
  const numbers = new Int32Array(records.length * ROW)
  for (const [at, record] of records.entries()) {
    const { type, userId, groupId, resourceType, resourceId, bits } = entryOf(record)
    const subjects = [positionIn(names, userId), positionIn(names, groupId)]
    const resource = [positionIn(resourceTypes, resourceType), positionIn(names, resourceId)]
    const own = [positionIn(names, record.id ?? null), Number(isPartlyRead(record))]
    numbers.set([type, ...subjects, ...resource, bits, ...own], at * ROW)
  }
  return {
    names: [...names.keys()],
    rows: {
      numbers,
      resourceTypes: [...resourceTypes.keys()],
      partlyRead: records.filter(isPartlyRead).length,
    },
  }
}

function positionIn<Value extends string | number>(
  positions: Map<Value, number>,
  value: Value | null,
): number {
  if (value === null) return ABSENT
  const known = positions.get(value)
  if (known !== undefined) return known
  positions.set(value, positions.size)
  return positions.size - 1
}

/** Indexes the records of a table, with pauses. */
export function* indexTable({ names, rows }: RecordTable): Generator<undefined, RecordIndex> {
  const index = emptyIndex()
  const count = rows.numbers.length / ROW
  for (let at = 0; at < count; at += 1) {
    addEntry(index, entryAt(at, names, rows))
    if (at % RECORDS_OF_A_STEP === RECORDS_OF_A_STEP - 1) yield
  }
  const { rights, named, revoking } = index
  return { rights, named, revoking }
}

function entryAt(at: number, names: readonly string[], { numbers, resourceTypes }: RecordRows): RecordEntry {
  const numberOf = (column: number): number => {
    const value = numbers[at * ROW + column]
    if (value === undefined) throw new RangeError(`record ${at} has no column ${column}`)
    return value
  }
  const resourceType = resourceTypes[numberOf(3)]
  if (resourceType === undefined) throw new RangeError(`record ${at} has no resource type`)
  return {
    type: typeOf(numberOf(0)),
    userId: nameAt(names, numberOf(1)),
    groupId: nameAt(names, numberOf(2)),
    resourceType,
    resourceId: nameAt(names, numberOf(4)),
    bits: numberOf(5),
  }
}

/** Returns the indexed parts of all records, in the order of the list. */
export function* entriesOf({ names, rows }: RecordTable): Generator<RecordEntry> {
  for (let at = 0; at < rows.numbers.length / ROW; at += 1) yield entryAt(at, names, rows)
}

/** The members that identify a record. */
export type RecordKey = Pick<StoredRecord, 'userId' | 'groupId' | 'resourceType' | 'resourceId'> & {
  readonly type: number
}

/** Maximum number of records in which a record is searched for: 10,000 records take a tenth of a millisecond. */
const MAX_SEARCHED = 10_000

/** Returns the position and the id of a record. Null if it is not in the list, or if the list is long. */
export function locateRecord(
  { names, rows }: RecordTable,
  { type, userId, groupId, resourceType, resourceId }: RecordKey,
): { readonly position: number; readonly id: string | null } | null {
  const { numbers, resourceTypes } = rows
  if (numbers.length > MAX_SEARCHED * ROW) return null
  const nameOf = (text: string | null | undefined): number => (text == null ? ABSENT : names.indexOf(text))
  const wanted = [
    type,
    nameOf(userId),
    nameOf(groupId),
    resourceTypes.indexOf(resourceType),
    nameOf(resourceId),
  ]
  for (let start = 0; start < numbers.length; start += ROW)
    if (wanted.every((value, column) => numbers[start + column] === value))
      return { position: start / ROW, id: nameAt(names, numbers[start + ID] ?? ABSENT) }
  return null
}

/** Returns the record with this id. Null if there is none, or if it says less here than in its engine. */
export function recordById({ names, rows }: RecordTable, id: string): StoredRecord | null {
  const name = names.indexOf(id)
  if (name < 0) return null
  for (let start = 0; start < rows.numbers.length; start += ROW)
    if (rows.numbers[start + ID] === name) return storedRecordOf(start / ROW, { names, rows })
  return null
}

function storedRecordOf(at: number, { names, rows }: RecordTable): StoredRecord | null {
  const { bits, ...members } = entryAt(at, names, rows)
  const resource = resourceOfType(members.resourceType)
  if (resource === null || rows.numbers[at * ROW + IS_PARTLY_READ] === 1) return null
  return { ...members, permissions: permissionsIn(resource, bits) }
}

function nameAt(names: readonly string[], position: number): string | null {
  if (position === ABSENT) return null
  const name = names[position]
  if (name === undefined) throw new RangeError(`there is no name ${position}`)
  return name
}

function typeOf(type: number): StoredRecord['type'] {
  if (type === GLOBAL || type === GRANT || type === REVOKE) return type
  throw new RangeError(`there is no record type ${type}`)
}
