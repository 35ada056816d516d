import type { SharedState } from '../cache/cache.ts'
import type { SourceState } from '../files/source-state.ts'
import { addTraffic, type Traffic } from '../metrics/traffic.ts'
import { addComparisons, type ComparisonReport } from '../proxy/compare/comparison-report.ts'
import type { PollCounts } from '../proxy/long-polls/long-polls.ts'
import type { SlowCounts } from '../proxy/upstream.ts'
import type { NodeState } from '../proxy/nodes/node-pool.ts'
import { isRecord } from '../request/value.ts'

/** The status of one process. */
export interface ProcessStatus {
  readonly engines: readonly EngineStatus[]
  readonly traffic: Traffic
  readonly redis: SharedState
  /** Names of exhausted resources. While there are any, new requests are refused. */
  readonly pressure: readonly string[]
}

export interface EngineStatus {
  readonly name: string
  /** The modes in force. */
  readonly authorization: string
  readonly validation: string
  readonly sources: readonly SourceStatus[]
  readonly polls: PollCounts
  /** Requests that wait for a free node. */
  readonly queue: number
  /** Requests of slow operations. */
  readonly slow: SlowCounts
  readonly isQueueStanding: boolean
  readonly nodes: readonly NodeStatus[]
  /** Null if the nodes have no groups. */
  readonly groups: GroupsStatus | null
}

/** The distribution of the requests between two groups of nodes. */
export interface GroupsStatus {
  readonly to: string
  readonly from: string
  /** The shares of the group `to`, from 0 to 1. */
  readonly reads: number
  readonly writes: number
  /** The limit that the group has passed, so that all requests returned automatically. Null if they did not return automatically. */
  readonly returned: string | null
  /** The operation, the counts of both groups and the test. Null if another process has returned the requests. */
  readonly finding: string | null
  /** Why the group `to` gets no requests, whatever its shares are. Null if it may get requests. */
  readonly refused: string | null
  /** Null if the responses of the groups are not compared. */
  readonly compared: ComparisonReport | null
}

/** Maximum number of differences of an engine. The report of `move report` has more of them. */
const SHOWN_DIFFERENCES = 5

/** A node without its registered deployments, because there may be thousands. */
export type NodeStatus = Omit<NodeState, 'registered'>

interface SourceStatus extends SourceState {
  readonly source: 'users' | 'records'
}

/** Returns whether a value has the form of a status. The value comes from another process. */
export function isProcessStatus(value: unknown): value is ProcessStatus {
  return isRecord(value) && Array.isArray(value['engines']) && isRecord(value['traffic'])
}

/** The states of Redis, worst first. The worst state of all processes is shown, as in their combined metrics. */
export const WORST_FIRST = ['down', 'unknown', 'up', 'none'] as const satisfies readonly SharedState[]

/** Combines the statuses of all processes that serve. */
export function addStatuses(all: readonly ProcessStatus[]): ProcessStatus {
  const byName = new Map<string, EngineStatus>()
  for (const engine of all.flatMap(({ engines }) => engines)) {
    const other = byName.get(engine.name)
    byName.set(engine.name, other === undefined ? engine : addEngines(other, engine))
  }
  return {
    engines: [...byName.values()],
    traffic: addTraffic(all.map(({ traffic }) => traffic)),
    redis: WORST_FIRST.find((state) => all.some(({ redis }) => redis === state)) ?? 'none',
    pressure: [...new Set(all.flatMap(({ pressure }) => pressure))],
  }
}

function addEngines(one: EngineStatus, other: EngineStatus): EngineStatus {
  return {
    ...one,
    sources: one.sources.map((source, at) => worseSource(source, other.sources[at])),
    polls: {
      open: one.polls.open + other.polls.open,
      waiting: one.polls.waiting + other.polls.waiting,
      abandoned: one.polls.abandoned + other.polls.abandoned,
    },
    queue: one.queue + other.queue,
    slow: { running: one.slow.running + other.slow.running, waiting: one.slow.waiting + other.slow.waiting },
    isQueueStanding: one.isQueueStanding || other.isQueueStanding,
    nodes: one.nodes.map((state) => {
      const same = other.nodes.find(({ node }) => node === state.node)
      return same === undefined ? state : addNodes(state, same)
    }),
    groups: addGroups(one.groups, other.groups),
  }
}

/** Processes have different shares if the requests of one of them have returned. One of them may have checked the group before the others. */
function addGroups(one: GroupsStatus | null, other: GroupsStatus | null): GroupsStatus | null {
  if (one === null || other === null) return one ?? other
  const compared = [one, other].flatMap((groups) => groups.compared ?? [])
  return {
    ...(other.finding === null && (other.returned === null || one.returned !== null) ? one : other),
    refused: one.refused ?? other.refused,
    compared: compared.length === 0 ? null : shownComparison(addComparisons(compared)),
  }
}

/** Returns a report with the newest differences only, because there may be hundreds of engines. */
export function shownComparison(report: ComparisonReport): ComparisonReport {
  return { ...report, differences: report.differences.slice(-SHOWN_DIFFERENCES) }
}

function worseSource(one: SourceStatus, other: SourceStatus | undefined): SourceStatus {
  return one.problem === null && other !== undefined ? other : one
}

function addNodes(one: NodeStatus, other: NodeStatus): NodeStatus {
  return {
    ...one,
    isDrained: one.isDrained && other.isDrained,
    isDrainedByCommand: one.isDrainedByCommand && other.isDrainedByCommand,
    reason: one.reason ?? other.reason,
    limit: one.limit + other.limit,
    inFlight: one.inFlight + other.inFlight,
    polls: one.polls + other.polls,
    latencyMs: Math.max(one.latencyMs, other.latencyMs),
    ejections: one.ejections + other.ejections,
    certificateEndsAtMs: one.certificateEndsAtMs ?? other.certificateEndsAtMs,
  }
}
