import { percent } from '../config/values.ts'
import type { Dependencies, EngineShift } from '../pipeline/dependencies.ts'
import { isZero, type ShiftShares } from '../proxy/nodes/shift.ts'
import { isObject } from '../request/value.ts'
import type { GroupsStatus } from '../status/process-status.ts'

/** The distribution between two groups of nodes in one process. */
export interface ShiftReport extends Omit<GroupsStatus, 'compared'> {
  readonly engine: string
  /** The number of the last command or return. 0: the shares of the configuration. */
  readonly revision: number
  /** Whether Redis has these shares, so that all other gateways follow them. Null if Redis is not configured. */
  readonly shared: boolean | null
}

/** The change is not valid, and nothing was changed. */
interface InvalidChange {
  readonly problem: string
}

export type ShiftResult = ShiftReport | InvalidChange

const MEMBERS: ReadonlySet<string> = new Set(['engine', 'reads', 'writes'])

/**
 * Changes the shares that `change` contains, in this process. Without shares, it changes nothing and reports the current ones. A group
 * that is refused gets no shares.
 */
export async function changeShift(
  { engines }: Pick<Dependencies, 'engines'>,
  change: unknown,
): Promise<ShiftResult> {
  const given = change ?? {}
  if (!isObject(given) || Object.keys(given).some((name) => !MEMBERS.has(name)))
    return { problem: 'The body must be a JSON object with the members engine, reads and writes, or empty' }
  const engine = shiftedEngineOf(given, engines)
  if (engine === null)
    return { problem: 'The engine has no groups of nodes. Name an engine with engines.NAME.shift' }
  const shares = givenShares(given)
  if ('problem' in shares) return shares
  if (!hasShares(given)) return reportOf(engine)
  const { shift } = engine
  const refusal = isZero({ ...shift.state().shares, ...shares }) ? null : await shift.recheck()
  if (refusal !== null) return { problem: refusal }
  await shift.change(shares)
  return reportOf(engine)
}

/** Returns whether a change names a share. A change without a share is a request for a report. */
export function hasShares(change: unknown): boolean {
  return isObject(change) && (change['reads'] !== undefined || change['writes'] !== undefined)
}

function givenShares(given: Readonly<Record<string, unknown>>): Partial<ShiftShares> | InvalidChange {
  const shares: { -readonly [Kind in keyof ShiftShares]?: number } = {}
  for (const kind of ['reads', 'writes'] as const) {
    if (given[kind] === undefined) continue
    const share = percent().safeParse(given[kind])
    if (!share.success) return { problem: `${kind}: a share from 0% to 100% is needed, for example 25%` }
    shares[kind] = share.data
  }
  return shares
}

interface ShiftedEngine {
  readonly name: string
  readonly shift: EngineShift
}

/** Returns the only engine with groups if the change names none. Null if there is no such engine, or more than one. */
function shiftedEngineOf(
  { engine }: Readonly<Record<string, unknown>>,
  engines: Dependencies['engines'],
): ShiftedEngine | null {
  const all = [...engines.values()].flatMap(({ name, shift }) => (shift === null ? [] : [{ name, shift }]))
  const found = engine === undefined ? all : all.filter(({ name }) => name === engine)
  return found.length === 1 ? (found[0] ?? null) : null
}

function reportOf({ name, shift }: ShiftedEngine): ShiftReport {
  const { to, from } = shift
  const { shares, returned, revision } = shift.state()
  const found = { returned, finding: shift.finding(), refused: shift.refusal() }
  return { engine: name, to, from, ...shares, ...found, revision, shared: shift.isShared() }
}
