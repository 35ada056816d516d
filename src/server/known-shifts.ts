import { shiftStateIn } from '../assembly/shifts.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { isRecord } from '../request/value.ts'

/** The shares of two groups of nodes in one process. */
interface KnownShift {
  readonly engine: string
  /** Identifies the section `shift` of the configuration. */
  readonly settings: string
  readonly state: unknown
}

export type KnownShifts = readonly KnownShift[]

/** Adopts shares that another process has changed later, under the same settings. Returns those of this process. */
export function adoptShifts(engines: Dependencies['engines'], known: unknown): KnownShifts {
  for (const { engine, settings, state } of isKnownShifts(known) ? known : []) {
    const shift = engines.get(engine)?.shift ?? null
    const later = shiftStateIn(state)
    if (shift?.settings === settings && later !== null) shift.adopt(later)
  }
  return [...engines.values()].flatMap(({ name: engine, shift }) =>
    shift === null ? [] : [{ engine, settings: shift.settings, state: shift.state() }],
  )
}

export function isKnownShifts(value: unknown): value is KnownShifts {
  return (
    Array.isArray(value) &&
    value.every(
      (one: unknown) =>
        isRecord(one) && typeof one['engine'] === 'string' && typeof one['settings'] === 'string',
    )
  )
}
