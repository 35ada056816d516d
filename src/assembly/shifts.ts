import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type EngineConfig, groupsOf } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { EngineShift } from '../pipeline/dependencies.ts'
import { RETURN_REASONS } from '../proxy/nodes/group-comparison.ts'
import type { Shift, ShiftOptions, ShiftState } from '../proxy/nodes/shift.ts'
import type { ChangeBus } from '../redis/change-bus.ts'
import { isObject, jsonValueOf } from '../request/value.ts'
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
      announce(engine, { settings: shiftSettingsId(shift), to: shift.to, state: changed }, changeBus)
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
  const settings = shiftSettingsId(engineConfig.shift)
  return {
    to,
    from,
    settings,
    state: () => shift.state,
    adopt: (state) => void shift.adopt(state),
    refusal: () => guard.refusal,
    recheck: () => guard.recheck(),
    change: (shares) => {
      shift.change(shares)
      log.info({ engine: name, group: to, ...shares }, 'the shares of the groups have changed')
      announce(name, { settings, to, state: shift.state }, changeBus)
    },
  }
}

/** The state of a shift, as processes send it to each other and keep it in Redis. */
export interface SharedShiftState {
  /** Identifies the section `shift` of the configuration of the process. */
  readonly settings: string
  /** The group to which requests are shifted. */
  readonly to: string
  readonly state: ShiftState
}

function announce(
  engine: string,
  changed: SharedShiftState,
  changeBus: ShiftDependencies['changeBus'],
): void {
  void changeBus?.publish(`${engine} ${SHIFTED}`, JSON.stringify(changed))
}

/** Returns a text that identifies the section `shift` of an engine. Changed shares apply as long as the section is the same. */
export function shiftSettingsId(settings: EngineConfig['shift']): string {
  return hash('sha256', JSON.stringify(settings), 'base64url')
}

interface AnnouncedShift {
  readonly settings: EngineConfig['shift']
  /** Null if the nodes of the engine have no groups. */
  readonly shift: Shift | null
  readonly log: Pick<Logger, 'warn'>
}

/** Applies the state that another gateway has announced. A text of another form has no effect. */
export function adoptAnnounced(
  engine: string,
  { settings, shift, log }: AnnouncedShift,
  about: string,
): void {
  const shared = sharedStateIn(about)
  if (shared === null)
    log.warn({ engine }, 'a message about the shares of the groups has another form and is ignored')
  else if (shift !== null) adoptShared(shift, shiftSettingsId(settings), shared)
}

/**
 * Applies a state unless this process has a later one. Under other settings, only shares of zero apply: the group may be broken, and
 * that does not depend on the settings. Returns whether the state of the shift changes.
 */
export function adoptShared(
  shift: Shift,
  settings: string,
  { to, state, ...shared }: SharedShiftState,
): boolean {
  if (to !== shift.to) return false
  return shared.settings === settings ? shift.adopt(state) : shift.adoptZero(state)
}

/** Returns null if the text has another form, for example further members. The meaning of such a text is not known. */
export function sharedStateIn(text: string): SharedShiftState | null {
  const { settings, to, ...shared } = membersOf(jsonValueOf(text), ['settings', 'to', 'state'])
  const state = shiftStateIn(shared['state'])
  if (state === null || typeof settings !== 'string' || typeof to !== 'string') return null
  return { settings, to, state }
}

/**
 * Returns the changed state that another process has sent or stored. Returns null if the value has another form. Each member is checked,
 * because any client that can write to Redis can send such a value, unless `cache.signingKeys` is set.
 */
export function shiftStateIn(value: unknown): ShiftState | null {
  const state = membersOf(value, ['shares', 'returned', 'changedAtMs', 'knownMs'])
  const { changedAtMs, knownMs } = state
  const { reads, writes } = membersOf(state['shares'], ['reads', 'writes'])
  const returned = RETURN_REASONS.find((reason) => reason === state['returned']) ?? null
  if (!isShare(reads) || !isShare(writes) || returned !== state['returned']) return null
  if (!isTime(changedAtMs) || !isTime(knownMs) || knownMs >= changedAtMs) return null
  return { shares: { reads, writes }, returned, changedAtMs, knownMs }
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

/**
 * The maximum of a time that another process has sent, in milliseconds since 1970: the largest time of a `Date`. The next change gets a
 * later time than all known ones. Without a maximum, a time near the largest safe integer would leave no room for it.
 */
const MAX_TIME_MS = 8.64e15

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TIME_MS
}

/** The part of a configuration that has the settings of shifts. */
interface ShiftSettings {
  readonly engines: Readonly<Record<string, Pick<EngineConfig, 'shift'>>>
}

interface ShiftsBefore {
  readonly config: ShiftSettings
  readonly shifts: ReadonlyMap<string, Shift | null>
  readonly formerShiftTimes: FormerShiftTimes
}

/** Returns the state of the shift of an engine, unless its settings have changed. A reload of other settings does not end a shift. */
export function shiftStateFor(
  name: string,
  config: ShiftSettings,
  before: ShiftsBefore | null,
): ShiftState | null {
  const [one, other] = [before?.config.engines[name], config.engines[name]]
  return isDeepStrictEqual(one?.shift, other?.shift) ? (before?.shifts.get(name)?.state ?? null) : null
}

/** When this process last knew the shares change under former configurations, by the name of the engine and the id of its settings. */
export type FormerShiftTimes = ReadonlyMap<string, number>

/** Maximum number of times that a process remembers. The oldest is forgotten first. */
const MAX_FORMER_TIMES = 100

/** Adds the times of the previous configuration to those that were remembered before. */
export function formerShiftTimesOf(before: ShiftsBefore | null): FormerShiftTimes {
  if (before === null) return new Map()
  const { config, shifts } = before
  const times = new Map(before.formerShiftTimes)
  for (const [name, shift] of shifts) {
    if (shift === null) continue
    const id = sharedNameOf(name, shiftSettingsId(config.engines[name]?.shift ?? null))
    const former = times.get(id) ?? 0
    // The last entry is the newest one.
    times.delete(id)
    times.set(id, Math.max(former, shift.state.changedAtMs))
  }
  return new Map([...times].slice(-MAX_FORMER_TIMES))
}

/** Returns 0 if this process had no former configuration with the same shift. */
export function formerShiftMsOf(name: string, { engines }: ShiftSettings, times: FormerShiftTimes): number {
  return times.get(sharedNameOf(name, shiftSettingsId(engines[name]?.shift ?? null))) ?? 0
}

/** Returns the name of the shares of an engine under some settings. */
export function sharedNameOf(engine: string, settings: string): string {
  return `${engine} ${settings}`
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
