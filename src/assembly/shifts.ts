import { type EngineConfig, groupsOf } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { EngineShift } from '../pipeline/dependencies.ts'
import { describeFinding } from '../proxy/nodes/group-comparison.ts'
import type { Shift, ShiftOptions } from '../proxy/nodes/shift.ts'
import type { Component } from '../component.ts'
import type { GroupGuard } from './group-guard.ts'
import type { SharedShifts } from './shared-shifts.ts'

interface ShiftDependencies {
  readonly metrics: Metrics
  readonly log: Logger
  /** The shift of the engine under the previous configuration. Null if its nodes had no groups. */
  readonly formerShift: Shift | null
}

/** Returns undefined if the nodes of the engine have no groups. */
export function shiftOptionsOf(
  engine: string,
  { nodes, shift }: Pick<EngineConfig, 'nodes' | 'shift'>,
  { metrics, log, formerShift }: ShiftDependencies,
): ShiftOptions | undefined {
  const from = groupsOf(nodes).find((group) => group !== shift?.to)
  if (shift === null || from === undefined) return undefined
  const { return: limits, release: _release, ...settings } = shift
  return {
    ...settings,
    from,
    limits,
    former: formerShift,
    onReturn: (finding) => {
      const { reason } = finding
      metrics.shiftReturned({
        engine,
        reason,
        operation: (reason === 'errors' ? finding.operation : null) ?? '',
      })
      log.error(
        { engine, group: shift.to, other: from, ...finding, finding: describeFinding(finding) },
        'all requests return to the other group',
      )
    },
  }
}

interface EngineShiftParts {
  readonly shift: Shift | null
  readonly guard: Pick<GroupGuard, 'refusal' | 'recheck'> | null
  readonly sharedShifts: Pick<SharedShifts, 'add'>
}

/** Returns null if the nodes of the engine have no groups. */
export function createEngineShift(
  name: string,
  { shift, guard, sharedShifts }: EngineShiftParts,
): EngineShift | null {
  if (shift === null || guard === null) return null
  const { to, from } = shift
  const { change, isShared } = sharedShifts.add(name, shift)
  return {
    to,
    from,
    state: () => shift.state,
    finding: () => (shift.finding === null ? null : describeFinding(shift.finding)),
    lastChange: () => shift.lastChange,
    follow: (latest) => shift.follow(latest),
    refusal: () => guard.refusal,
    recheck: () => guard.recheck(),
    change,
    isShared,
  }
}

interface EngineWithShift {
  readonly name: string
  readonly shift: Shift | null
}

/** Creates the gauges of engines whose nodes have groups. */
export function createShiftGauges(engines: readonly EngineWithShift[]): Component {
  const shifted = engines.flatMap(({ name: engine, shift }) => (shift === null ? [] : [{ engine, shift }]))
  return {
    activate: (metrics) => {
      metrics.gauges(
        {
          name: 'gateway_shift_share',
          help: 'Share of the requests that a group of nodes gets, from 0 to 1. Long polls have the share of the writes.',
          labels: ['engine', 'group', 'kind'],
        },
        () =>
          shifted.flatMap(({ engine, shift: { to, from, shares } }) =>
            Object.entries(shares).flatMap(([kind, share]) => [
              { labels: { engine, group: to, kind }, value: share },
              { labels: { engine, group: from, kind }, value: 1 - share },
            ]),
          ),
      )
      metrics.gauges(
        {
          name: 'gateway_shift_returned',
          help: 'Whether all requests have returned to the other group because the group passed a limit.',
          labels: ['engine'],
        },
        () =>
          shifted.map(({ engine, shift }) => ({
            labels: { engine },
            value: Number(shift.returned !== null),
          })),
      )
    },
  }
}
