import { randomUUID } from 'node:crypto'
import { scheduleTimer, type Schedule } from '../../files/source-state.ts'
import type { TurnTaker } from '../../redis/shared-turns.ts'
import type { BufferedResponse } from '../../request/buffered-response.ts'
import { Collector } from '../attempts/collector.ts'
import type { WireRequest } from '../attempts/attempt.ts'
import { sendWithRetries, type SendOptions } from '../attempts/send-with-retries.ts'
import { Queue } from '../attempts/queue.ts'
import type { Node } from '../nodes/node.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import type { UpstreamRequest } from '../wire/upstream-request.ts'
import { coalesce } from './coalesce.ts'
import { LEAST_GAP_MS, Nudges, type NudgeResult, type NudgeTarget } from './nudges.ts'

/** The configuration of the nudges of one engine. */
export interface NudgeSettings {
  readonly everyMs: number
  readonly turns: TurnTaker
  /** Notifies other gateways that a write succeeded at a node. */
  readonly announce: (node: string) => void
  readonly onNudge: (result: NudgeResult) => void
  /** Default: timers that do not keep the process alive. */
  readonly schedule?: Schedule
}

interface NudgeOptions extends NudgeSettings {
  readonly nodes: NodePool
  readonly sendOptions: SendOptions
  readonly requestOf: (upstreamRequest: UpstreamRequest) => WireRequest
  /** Whether a node holds a poll of a connected client. */
  readonly isParkedAt: (node: string) => boolean
}

/** The events that trigger nudges of an upstream. */
export interface UpstreamNudges {
  /** Starts the periodic nudges. Call it when a poll was sent to a node. */
  readonly watch: () => void
  /** Nudges the other nodes and notifies other gateways. Call it when a write through this gateway succeeded at this node. */
  readonly written: (node: string) => void
  /** Nudges the other nodes. Call it when a write through another gateway succeeded at this node. */
  readonly writtenElsewhere: (node: string) => void
  readonly close: () => Promise<void>
}

/** Sends no nudges. It is used if there is only one node, or if the configuration disables nudges. */
export const NO_NUDGES: UpstreamNudges = {
  watch: () => undefined,
  written: () => undefined,
  writtenElsewhere: () => undefined,
  close: () => Promise.resolve(),
}

/** The timeout of a nudge. An engine checks its polls one after the other and is slow if it has many. */
const NUDGE_MS = 30_000
const MAX_NUDGE_BYTES = 64 * 1024

/** Creates the nudges for the nodes of an engine. Each node has one additional connection for nudges. */
export function createNudges(options: NudgeOptions): UpstreamNudges {
  const { nodes, announce, everyMs, turns, onNudge, sendOptions, schedule = scheduleTimer } = options
  if (nodes.configured.length < 2) return NO_NUDGES
  const nudgeNodes = nodes.configured.map((node) => ({ node, nudgeNode: nudgeNodeOf(node) }))
  const targets = nudgeNodes.map(({ node, nudgeNode }) => targetOf(node, nudgeNode, options))
  const { now } = sendOptions
  const nudges = new Nudges({ targets, everyMs, turns, onNudge, now, schedule })
  const announcements = new Map(
    nodes.configured.map(({ name }) => [name, coalesce(() => announce(name), LEAST_GAP_MS, schedule)]),
  )
  return {
    watch: () => nudges.watch(),
    written: (node) => {
      nudges.written(node)
      announcements.get(node)?.()
    },
    writtenElsewhere: (node) => nudges.written(node),
    close: async () => {
      nudges.close()
      const open = nudgeNodes.filter(({ nudgeNode: { pool } }) => !pool.closed)
      await Promise.all(open.map(({ nudgeNode: { pool } }) => pool.close()))
    },
  }
}

/** Returns the same node with a separate connection. A nudge must not wait for other requests and must not count as one of them. */
function nudgeNodeOf(node: Node): Node {
  return { ...node, pool: node.openPool(1), capacity: 1, ceiling: 1, inFlight: 0 }
}

function targetOf(
  node: Node,
  nudgeNode: Node,
  { nodes, sendOptions, requestOf, isParkedAt }: NudgeOptions,
): NudgeTarget {
  const toThisNode: SendOptions = {
    ...sendOptions,
    pick: (tried) => (tried.length === 0 ? nudgeNode : null),
    queue: new Queue({ max: 0, waitMs: 0 }),
    slow: null,
    traced: undefined,
    onWritten: undefined,
  }
  const send = (): Promise<BufferedResponse> =>
    sendWithRetries(toThisNode, NUDGE, requestOf(NUDGE), new Collector(NUDGE.method, MAX_NUDGE_BYTES))
  return {
    name: node.name,
    isParked: () => isParkedAt(node.name),
    isUsable: () =>
      node.health.reason === null && node.inFlight < node.capacity && !nodes.isDrainedByCommand(node),
    send: () =>
      send().then(
        ({ status }) => status === 200,
        () => false,
      ),
  }
}

/**
 * A poll that an engine parks for one millisecond. For every poll that arrives, an engine checks all parked polls. No process can
 * have a task with this topic, so the nudge locks no task.
 */
const NUDGE: UpstreamRequest = {
  method: 'POST',
  path: '/external-task/fetchAndLock',
  headers: { accept: 'application/json', 'content-type': 'application/json' },
  body: Buffer.from(
    JSON.stringify({
      workerId: 'engine-gateway-nudge',
      maxTasks: 1,
      usePriority: false,
      asyncResponseTimeout: 1,
      topics: [{ topicName: `engine-gateway-nudge-${randomUUID()}`, lockDuration: 1000 }],
    }),
  ),
  retry: 'unsent',
  newTasks: 'none',
  // With this option the attempt counts as a long poll, whose duration does not depend on the speed of the node.
  headersMs: NUDGE_MS,
}
