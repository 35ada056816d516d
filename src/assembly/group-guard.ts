import { setTimeout as delay } from 'node:timers/promises'
import type { EngineConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { compareSchema, type GroupFacts, nameOfGroup, readGroupFacts } from '../move/group-facts.ts'
import { type EngineFamily, familyOfRelease } from '../operations/published/engine-families.ts'
import type { Release } from '../operations/published/releases.ts'
import { nodeNameOf } from '../proxy/nodes/node.ts'
import type { Shift } from '../proxy/nodes/shift.ts'
import type { Upstream } from '../proxy/upstream.ts'
import type { AskEngine } from '../request/engine-request.ts'
import type { Component } from '../component.ts'
import { askerOf } from './engine-client.ts'

/** The times of the checks of a group. */
const TIMES_MS = {
  /** The time between two checks, and so the maximum age of a decision. */
  every: 30_000,
  /** The time until the next check if the group did not respond. */
  retry: 2000,
  /** How long the start of the gateway waits for the first check. */
  start: 3000,
  /** How long a shift command waits for its check. Shorter than the timeout of the question to a worker. */
  command: 1500,
} as const

export interface GroupGuardOptions {
  readonly engine: string
  readonly to: string
  /** Sends a request to the group `to`. */
  readonly ask: AskEngine
  /** The configured release of the group `to`. It is used if its nodes do not report their family. */
  readonly release: Release | null
  /** The other group, with its configured release. */
  readonly other: { readonly name: string; readonly ask: AskEngine; readonly release: Release | null }
  /** Returns whether nodes of a group can get requests: they are not drained. */
  readonly isUsable: (group: string) => boolean
  /** Takes the group out of use, or returns it. */
  readonly refuse: (isRefused: boolean) => void
  readonly log: Pick<Logger, 'error' | 'info'>
  /** Whether the group got requests under the previous configuration. It is then used until the first check. */
  readonly isInUse: boolean
  readonly close: () => Promise<void>
}

/**
 * Takes the group to which requests are shifted out of use while the database lacks tables or columns that its engines need. Such
 * engines start and read, but fail to start instances. A group that has not responded yet is out of use too. A group whose family or
 * schema cannot be recognized is used.
 */
export class GroupGuard {
  readonly engine: string
  readonly to: string
  readonly #options: GroupGuardOptions
  #families: Readonly<Record<'to' | 'other', EngineFamily | null>>
  #refusal: string | null = null
  /** True until the group has responded once. */
  #isUnchecked: boolean
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: GroupGuardOptions) {
    this.#options = options
    this.engine = options.engine
    this.to = options.to
    this.#isUnchecked = !options.isInUse
    this.#families = {
      to: familyOfConfigured(options.release),
      other: familyOfConfigured(options.other.release),
    }
  }

  /** Why the group gets no requests. Null if it may get requests. */
  get refusal(): string | null {
    return this.#refusal
  }

  /**
   * Returns the family of each group that can get requests, as last read. Null: the family is not known. A refused group is included,
   * because the next check may permit it again.
   */
  families(): readonly (EngineFamily | null)[] {
    const { to, other, isUsable } = this.#options
    return [
      ...(isUsable(other.name) ? [this.#families.other] : []),
      ...(isUsable(to) ? [this.#families.to] : []),
    ]
  }

  /** Checks the group now and periodically. Resolves after the first check, or after some seconds. */
  async start(): Promise<void> {
    if (this.#isUnchecked) this.#set(`The group ${this.to} gets no requests until a node of it responds`)
    await Promise.race([this.#checkAndSchedule(), delay(TIMES_MS.start, undefined, { ref: false })])
  }

  /** Checks the group, and returns why it gets no requests. */
  async recheck(): Promise<string | null> {
    await Promise.race([this.#check(), delay(TIMES_MS.command, undefined, { ref: false })])
    return this.#refusal
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  close(): Promise<void> {
    return this.#options.close()
  }

  async #checkAndSchedule(): Promise<void> {
    const [hasResponded] = await Promise.all([this.#check(), this.#readOther()])
    if (this.#isStopped) return
    const inMs = hasResponded ? TIMES_MS.every : TIMES_MS.retry
    this.#timer = setTimeout(() => void this.#checkAndSchedule(), inMs).unref()
  }

  /** Returns whether the group has responded. */
  async #check(): Promise<boolean> {
    const { ask, release } = this.#options
    const facts = await readGroupFacts(ask, release).catch(() => null)
    if (facts === null || this.#isStopped) return false
    this.#apply(facts)
    return true
  }

  async #readOther(): Promise<void> {
    const { ask, release } = this.#options.other
    const facts = await readGroupFacts(ask, release).catch(() => null)
    if (facts !== null) this.#families = { ...this.#families, other: facts.family }
  }

  #apply(facts: GroupFacts): void {
    this.#families = { ...this.#families, to: facts.family }
    const compared = compareSchema(facts)
    // A response without these facts is no reason to use a group that was refused for its schema.
    if (compared === null && !this.#isUnchecked) return
    this.#isUnchecked = false
    this.#set(
      compared?.isTooOld === true
        ? `The group ${this.to} gets no requests: ${nameOfGroup(facts)} needs the schema ${compared.needs}, and the database has ${compared.schema}`
        : null,
    )
  }

  #set(refusal: string | null): void {
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    const { engine, to, log, refuse } = this.#options
    refuse(refusal !== null)
    if (refusal === null) log.info({ engine, group: to }, 'the group may get requests')
    else if (!this.#isUnchecked) log.error({ engine, group: to, refusal }, 'the group gets no requests')
  }
}

function familyOfConfigured(release: Release | null): EngineFamily | null {
  return release === null ? null : familyOfRelease(release)
}

interface GuardedEngine {
  readonly name: string
  readonly engineConfig: Pick<EngineConfig, 'nodes' | 'release' | 'shift'>
  readonly log: Logger
  /** The shift of the engine under the previous configuration. Null if its nodes had no groups. */
  readonly formerShift: Pick<Shift, 'to' | 'from'> | null
}

/** Returns null if the nodes of the engine have no groups. */
export function createGroupGuard(
  { name, engineConfig: { nodes, release, shift }, log, formerShift }: GuardedEngine,
  own: Upstream,
): GroupGuard | null {
  if (own.shift === null) return null
  const { to, from } = own.shift
  const [upstream, other] = [own.openGroup(to), own.openGroup(from)]
  const configured = new Set(nodes.filter(({ drain }) => !drain).map(({ url }) => nodeNameOf(url)))
  return new GroupGuard({
    engine: name,
    to,
    ask: askerOf(upstream),
    release: shift?.release ?? null,
    other: { name: from, ask: askerOf(other), release },
    isUsable: (group) =>
      own
        .nodes()
        .some((node) => node.group === group && configured.has(node.node) && !node.isDrainedByCommand),
    refuse: (isRefused) => own.refuseGroup(isRefused ? to : null),
    log,
    isInUse: formerShift?.to === to && formerShift.from === from,
    close: async () => {
      await Promise.all([upstream.close(), other.close()])
    },
  })
}

/** Starts the guards of all engines, and shows their decisions as a metric. */
export function createGroupGuards(guards: readonly GroupGuard[]): Component {
  return {
    start: async () => {
      await Promise.all(guards.map((guard) => guard.start()))
    },
    activate: (metrics) =>
      metrics.gauges(
        {
          name: 'gateway_group_refused',
          help: 'Whether a group of nodes gets no requests because it needs a newer database schema, or has not responded yet.',
          labels: ['engine', 'group'],
        },
        () =>
          guards.map(({ engine, to, refusal }) => ({
            labels: { engine, group: to },
            value: Number(refusal !== null),
          })),
      ),
    stop: () => {
      for (const guard of guards) guard.stop()
    },
    close: async () => {
      await Promise.all(guards.map((guard) => guard.close()))
    },
  }
}
