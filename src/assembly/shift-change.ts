import { RETURN_REASONS } from '../proxy/nodes/group-comparison.ts'
import type { ShiftChange, ShiftState } from '../proxy/nodes/shift.ts'
import { isObject } from '../request/value.ts'

/**
 * Returns the change that another process has sent or stored. Returns null if the value has another form, for example further members: the
 * meaning of such a value is not known. Each member is checked, because any client that can write to Redis can store such a value, unless
 * `cache.signingKeys` is set.
 */
export function shiftChangeOf(value: unknown): ShiftChange | null {
  const { to, from, scope, ...record } = membersOf(value, ['to', 'from', 'scope', 'state'])
  const state = shiftStateOf(record['state'])
  if (state === null || typeof to !== 'string' || typeof from !== 'string' || typeof scope !== 'string')
    return null
  return { to, from, scope, state }
}

function shiftStateOf(value: unknown): ShiftState | null {
  const state = membersOf(value, ['shares', 'returned', 'revision'])
  const { revision } = state
  const { reads, writes } = membersOf(state['shares'], ['reads', 'writes'])
  const returned = RETURN_REASONS.find((reason) => reason === state['returned']) ?? null
  if (!isShare(reads) || !isShare(writes) || returned !== state['returned']) return null
  return isRevision(revision) ? { shares: { reads, writes }, returned, revision } : null
}

/** Returns an object that has exactly these members. For any other value, returns an object without members. */
function membersOf(value: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  const isExact =
    isObject(value) &&
    Object.keys(value).length === names.length &&
    names.every((name) => Object.hasOwn(value, name))
  return isExact ? value : {}
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** The highest revision that is accepted. Each change raises the revision by one, and a higher one would leave no room for further changes. */
const MAX_REVISION = 2 ** 40

function isRevision(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= MAX_REVISION
}
