import type { ServerResponse } from 'node:http'
import type { LongPolls } from './long-polls/long-polls.ts'
import type { NodeState } from './nodes/node-pool.ts'
import type { Credentials } from './wire/headers.ts'
import type { Relayed, UpstreamRequest } from './wire/upstream-request.ts'
import type { Answer } from '../request/answer.ts'

export interface ProbeTimes {
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Whether to read the deployments registered at each node, default no. */
  readonly deployments?: boolean
}

/** A node that can be asked whether it is of use. */
export interface ReachableNode {
  /** `http://host:8080/engine-rest` */
  readonly node: string
  readonly isDrained: boolean
  /** Resolves with the version, null where the node does not say it, as an application. @throws Error that says why the node is of no use */
  readonly reach: (withinMs: number) => Promise<string | null>
}

/** One engine, or one application, and its nodes. */
export interface Upstream {
  readonly engine: string
  /** Streams the answer to the client. Rejects only if nothing was written to it. */
  relay(
    upstreamRequest: UpstreamRequest,
    sink: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<Relayed>
  /** The complete answer, not encoded. An answer larger than `limitBytes` is an error. */
  fetch(upstreamRequest: UpstreamRequest, limitBytes: number): Promise<Answer>
  /** The same nodes, with other credentials. */
  withCredentials(credentials: Credentials): Upstream
  /** Starts probing the nodes, with these credentials. Without probes, requests find out. */
  startProbes(times: ProbeTimes): void
  /** A deployment was created or deleted: reads the registered deployments again where they are needed. */
  deployed(): Promise<void>
  nodes(): readonly NodeState[]
  /** Each node with a question that finds out whether it is of use, drained ones included. */
  reachable(): readonly ReachableNode[]
  /** Requests that wait for a free node. */
  waiting(): number
  /** Requests have waited for so long that new ones may wait for the target only. */
  isQueueStanding(): boolean
  /** Unlocks all tasks of an answer that nobody receives. Resolves when the engine has answered. */
  giveBack(answer: Answer): Promise<void>
  /** A write that may have created external tasks succeeded at this node through another gateway. */
  writtenElsewhere(node: string): void
  /** Long polls, which have connections of their own. */
  readonly polls: LongPolls
  /** Waits for requests in flight. */
  close(): Promise<void>
}
