import { shiftChangeOf } from '../assembly/shift-change.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { isRecord } from '../request/value.ts'

/** The shares of two groups of nodes in one process. */
interface KnownShift {
  readonly engine: string
  readonly change: unknown
}

export type KnownShifts = readonly KnownShift[]

/** Follows changes that another process knows and that replace those of this process. Returns the shares of this process. */
export function followShifts(engines: Dependencies['engines'], known: unknown): KnownShifts {
  for (const { engine, change } of isKnownShifts(known) ? known : []) {
    const last = shiftChangeOf(change)
    if (last !== null) engines.get(engine)?.shift?.follow(last)
  }
  return [...engines.values()].flatMap(({ name: engine, shift }) =>
    shift === null ? [] : [{ engine, change: shift.lastChange() }],
  )
}

export function isKnownShifts(value: unknown): value is KnownShifts {
  return (
    Array.isArray(value) &&
    value.every((one: unknown) => isRecord(one) && typeof one['engine'] === 'string' && 'change' in one)
  )
}
