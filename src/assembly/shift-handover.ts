import type { Shift } from '../proxy/nodes/shift.ts'
import type { Component } from '../component.ts'

interface ShiftHandover {
  /** Null if the nodes of the engine have no groups. */
  readonly shift: Shift | null
  /** Returns the shift under the previous configuration. Null if its nodes had no groups. */
  readonly former: () => Shift | null
}

/**
 * Creates the component that takes over the shares that a command or a return has changed while this configuration started. The
 * previous configuration was in force until then.
 */
export function createShiftHandover(engines: readonly ShiftHandover[]): Component {
  return {
    activate: () => {
      for (const { shift, former } of engines) {
        const before = former()
        if (before !== null) shift?.takeOver(before)
      }
    },
  }
}
