import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Config, type EngineConfig, groupsOf } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { EngineShift } from '../pipeline/dependencies.ts'
import { RETURN_REASONS } from '../proxy/nodes/group-comparison.ts'
import type { Shift, ShiftOptions, ShiftState } from '../proxy/nodes/shift.ts'
import type { ChangeBus } from '../redis/change-bus.ts'
import { isRecord } from '../request/value.ts'
import type { Component } from './component.ts'
import type { GroupGuard } from './group-guard.ts'

interface ShiftDependencies {
  readonly metrics: Metrics
  readonly log: Logger
  readonly changeBus: Pick<ChangeBus, 'publish'> | null
}

/** The topic of messages to other gateways about the distribution between two groups of nodes. */
export const SHIFTED = 'shift'

/** Returns undefined if the nodes of the engine have no groups. */
export function shiftOptionsOf(
  engine: string,
  { nodes, shift }: Pick<EngineConfig, 'nodes' | 'shift'>,
  { metrics, log, changeBus }: ShiftDependencies,
  state: ShiftState | null,
): ShiftOptions | undefined {
  const from = groupsOf(nodes).find((group) => group !== shift?.to)
  if (shift === null || from === undefined) return undefined
  const { return: limits, release: _release, ...settings } = shift
  return {
    ...settings,
    from,
    limits,
    state,
    onReturn: (reason, changed) => {
      metrics.shiftReturned({ engine, reason })
      log.error({ engine, group: shift.to, to: from, reason }, 'all requests return to the other group')
      announce(engine, changed, changeBus)
    },
  }
}

interface EngineShiftDependencies extends Pick<ShiftDependencies, 'changeBus' | 'log'> {
  readonly engineConfig: Pick<EngineConfig, 'shift'>
}

/** Returns null if the nodes of the engine have no groups. */
export function createEngineShift(
  name: string,
  { changeBus, log, engineConfig }: EngineShiftDependencies,
  shift: Shift | null,
  guard: Pick<GroupGuard, 'refusal' | 'recheck'> | null,
): EngineShift | null {
  if (shift === null || guard === null) return null
  const { to, from } = shift
  return {
    to,
    from,
    settings: shiftSettingsId(engineConfig.shift),
    state: () => shift.state,
    adopt: (state) => shift.adopt(state),
    refusal: () => guard.refusal,
    recheck: () => guard.recheck(),
    change: (shares) => {
      shift.change(shares)
      log.info({ engine: name, group: to, ...shares }, 'the shares of the groups have changed')
      announce(name, shift.state, changeBus)
    },
  }
}

function announce(engine: string, state: ShiftState, changeBus: ShiftDependencies['changeBus']): void {
  void changeBus?.publish(`${engine} ${SHIFTED}`, JSON.stringify(state))
}

/** Returns a text that identifies the section `shift` of an engine. Changed shares apply as long as the section is the same. */
export function shiftSettingsId(settings: EngineConfig['shift']): string {
  return hash('sha256', JSON.stringify(settings), 'base64url')
}

/** Applies the state that another gateway has announced. A text of another form has no effect. */
export function adoptShift(shift: Shift | null, about: string): void {
  const state = shiftStateIn(parsedOrNull(about))
  if (state !== null) shift?.adopt(state)
}

/** The value comes from another gateway. Without signing keys, everyone who can write to Redis can send it. */
export function shiftStateIn(state: unknown): ShiftState | null {
  if (!isRecord(state) || !isRecord(state['shares'])) return null
  const { reads, writes } = state['shares']
  const { changedAtMs } = state
  const returned = RETURN_REASONS.find((reason) => reason === state['returned']) ?? null
  return isShare(reads) && isShare(writes) && isTime(changedAtMs)
    ? { shares: { reads, writes }, returned, changedAtMs }
    : null
}

export function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** The last time that a Date can have. A later change must remain possible. */
const MAX_TIME_MS = 8.64e15

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= MAX_TIME_MS
}

/** Returns the state of the shift of an engine, unless its settings have changed. A reload of other settings does not end a shift. */
export function shiftStateFor(
  name: string,
  config: Config,
  before: { readonly config: Config; readonly shifts: ReadonlyMap<string, Shift | null> } | null,
): ShiftState | null {
  const [one, other] = [before?.config.engines[name], config.engines[name]]
  return isDeepStrictEqual(one?.shift, other?.shift) ? (before?.shifts.get(name)?.state ?? null) : null
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
