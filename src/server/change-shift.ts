import { percent } from '../config/values.ts'
import type { Dependencies, EngineShift } from '../pipeline/dependencies.ts'
import { isObject } from '../request/value.ts'

/** The distribution between two groups of nodes in one process. */
export interface ShiftReport {
  readonly engine: string
  readonly to: string
  readonly from: string
  /** The shares of the group `to`, from 0 to 1. */
  readonly reads: number
  readonly writes: number
  /** The limit that the group has passed. Null if all requests have not returned by themselves. */
  readonly returned: string | null
}

/** The change is not valid, and nothing was changed. */
interface InvalidChange {
  readonly problem: string
}

export type ShiftResult = ShiftReport | InvalidChange

const MEMBERS: ReadonlySet<string> = new Set(['engine', 'reads', 'writes'])

/** Changes the shares that `change` contains, in this process. Without shares, it changes nothing and reports the current ones. */
export function changeShift(engines: Dependencies['engines'], change: unknown): ShiftResult {
  const given = change ?? {}
  if (!isObject(given) || Object.keys(given).some((name) => !MEMBERS.has(name)))
    return { problem: 'The body must be a JSON object with the members engine, reads and writes, or empty' }
  const name = engineNameOf(given, engines)
  const shift = name === null ? null : (engines.get(name)?.shift ?? null)
  if (name === null || shift === null)
    return { problem: 'The engine has no groups of nodes. Name an engine with engines.NAME.shift' }
  const shares = { ...shift.state().shares }
  for (const kind of ['reads', 'writes'] as const) {
    if (given[kind] === undefined) continue
    const share = percent().safeParse(given[kind])
    if (!share.success) return { problem: `${kind}: a share from 0% to 100% is needed, for example 25%` }
    shares[kind] = share.data
  }
  if (given['reads'] !== undefined || given['writes'] !== undefined) shift.change(shares)
  return reportOf(name, shift)
}

/** Returns the only engine with groups if the change names none. */
function engineNameOf(
  { engine }: Readonly<Record<string, unknown>>,
  engines: Dependencies['engines'],
): string | null {
  if (engine !== undefined) return typeof engine === 'string' ? engine : null
  const shifted = [...engines.values()].filter(({ shift }) => shift !== null)
  return shifted.length === 1 ? (shifted[0]?.name ?? null) : null
}

function reportOf(engine: string, { to, from, state }: EngineShift): ShiftReport {
  const { shares, returned } = state()
  return { engine, to, from, ...shares, returned }
}
