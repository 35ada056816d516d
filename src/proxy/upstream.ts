import type { ServerResponse } from 'node:http'
import type { Comparer } from './compare/comparer.ts'
import type { LongPolls } from './long-polls/long-polls.ts'
import type { NodeState } from './nodes/node-pool.ts'
import type { Shift } from './nodes/shift.ts'
import type { Credentials } from './wire/headers.ts'
import type { RelayResult, UpstreamRequest } from './wire/upstream-request.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'

export interface ProbeTimes {
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to read the deployments that are registered at each node. Default: no. */
  readonly deployments?: boolean
}

/** A node whose usability can be tested. */
export interface ReachableNode {
  /** `http://host:8080/engine-rest` */
  readonly node: string
  readonly isDrained: boolean
  /**
   * Tests the node once. Resolves to its version, or to null if it does not report one, as an application does.
   * @throws Error that explains why the node is not usable
   */
  readonly checkConnection: (withinMs: number) => Promise<string | null>
}

export interface SlowCounts {
  readonly running: number
  readonly waiting: number
}

/** An engine or an application, with its nodes. */
export interface Upstream {
  readonly engine: string
  /** Streams the response to the client. Rejects only if nothing was written to the client. */
  relay(
    upstreamRequest: UpstreamRequest,
    sink: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<RelayResult>
  /** Resolves to the complete response, without content encoding. A response larger than `limitBytes` is an error. */
  fetch(upstreamRequest: UpstreamRequest, limitBytes: number): Promise<BufferedResponse>
  /** Returns an upstream with the same nodes and other credentials. */
  withCredentials(credentials: Credentials): Upstream
  /** Starts to probe the nodes with the credentials of this upstream. Without probes, requests detect whether a node has recovered. */
  startProbes(times: ProbeTimes): void
  /** Reads the registered deployments again if they are needed. Call it after a deployment was created or deleted. */
  deployed(): Promise<void>
  nodes(): readonly NodeState[]
  /** Compares the responses of two groups of nodes. Null if nothing is compared. */
  readonly comparer: Pick<Comparer, 'report'> | null
  /** Sends nothing to the nodes of this group, as if they were drained. Null: no group is refused. */
  refuseGroup(group: string | null): void
  /** Opens separate connections to the nodes of one group, which have no influence on requests of clients. The caller must close it. */
  openGroup(group: string): Upstream
  /** The distribution between two groups of nodes. Null if the nodes have no groups. */
  readonly shift: Shift | null
  /**
   * Drains the nodes with these names, and uses all others that the configuration does not drain. Requests in flight continue, and
   * long polls are sent to other nodes.
   */
  drain(names: ReadonlySet<string>): void
  /** Returns each node, including drained nodes, with a function that tests whether it is usable. */
  reachable(): readonly ReachableNode[]
  /** Returns the number of requests that wait for a free node. */
  waiting(): number
  /** Returns the number of requests of slow operations at the nodes, and of those that wait for a place. */
  slow(): SlowCounts
  /** Returns true if requests have waited for so long that a new request may wait only for the queue's target time. */
  isQueueStanding(): boolean
  /** Unlocks all tasks of a response that no client receives. Resolves when the engine has responded. */
  unlockTasks(response: BufferedResponse): Promise<void>
  /** Handles the report of another gateway that a write, which may have created external tasks, succeeded at this node. */
  writtenElsewhere(node: string): void
  /** Long polls, which use separate connections. */
  readonly polls: LongPolls
  /** Closes all connections after the requests in flight have ended. */
  close(): Promise<void>
}
