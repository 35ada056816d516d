import type { ServerResponse } from 'node:http'
import type { WireRequest } from './attempt.ts'
import { createBalance } from './balance.ts'
import { createBudget } from './budget.ts'
import { Collector } from './collect.ts'
import { createWireHeaders, wholeHeaders, type RequestPolicy } from './headers.ts'
import type { Answer, AttemptEvent, Hop } from './hop.ts'
import { createNode } from './node.ts'
import { CLIENT_GONE, Relay, type Relayed } from './relay.ts'
import { exchange, type ExchangeParts } from './retry.ts'

export interface UpstreamOptions extends Omit<RequestPolicy, 'cookies'> {
  readonly engine: string
  /** `http://host:8080/engine-rest`, at least one. */
  readonly nodes: readonly string[]
  /** The engine's name on its nodes; without it the plain base path is used there. */
  readonly remoteName?: string
  readonly timeouts: {
    /** One connection; then the next node is tried. */
    readonly connectMs: number
    /** From the hand-over to the answer's head; a hop may ask for another. */
    readonly headersMs: number
    /** Without a byte of the answer's body, and without the client taking one. */
    readonly bodyMs: number
  }
  /** To each node. */
  readonly connections: number
  /** Requests that may wait for a connection to a node, default 1000; more are refused with 503. */
  readonly waiting?: number
  readonly onAttempt?: (event: AttemptEvent) => void
  readonly now?: () => number
}

/** One engine and the way to it. */
export interface Upstream {
  readonly engine: string
  /** Streams the answer to the client; rejects only while nothing has been written to it. */
  relay(hop: Hop, sink: ServerResponse, headers: Readonly<Record<string, string>>): Promise<Relayed>
  /** The whole answer, not encoded; larger than `limitBytes` is an error. */
  fetch(hop: Hop, limitBytes: number): Promise<Answer>
  /** Waits for what is under way. */
  close(): Promise<void>
}

export function createUpstream(options: UpstreamOptions): Upstream {
  const { engine, timeouts, now = () => performance.now() } = options
  const nodes = createNodes(options)
  const wireHeaders = createWireHeaders(options)
  const parts: ExchangeParts = {
    pick: createBalance(nodes),
    budget: createBudget(options.connections, now),
    now,
    onAttempt: options.onAttempt,
  }
  const requestOf = (hop: Hop, headers: Readonly<Record<string, string>>): WireRequest => ({
    method: hop.method,
    path: hop.path,
    headers: wireHeaders(headers),
    body: hop.body,
    headersMs: hop.headersMs ?? timeouts.headersMs,
    bodyMs: timeouts.bodyMs,
  })
  return {
    engine,
    relay(hop, sink, headers) {
      if (sink.destroyed && hop.retry === 'always') return Promise.resolve(CLIENT_GONE)
      const receiver = new Relay(sink, { hop, headers, stallMs: timeouts.bodyMs })
      return exchange(parts, hop, requestOf(hop, hop.headers), receiver)
    },
    fetch(hop, limitBytes) {
      const receiver = new Collector(hop.method, limitBytes)
      return exchange(parts, hop, requestOf(hop, wholeHeaders(hop.headers)), receiver)
    },
    async close() {
      await Promise.all(nodes.filter(({ pool }) => !pool.closed).map(({ pool }) => pool.close()))
    },
  }
}

function createNodes(options: UpstreamOptions) {
  const { remoteName, connections, waiting = 1000, timeouts } = options
  const suffix = remoteName === undefined ? '' : `/engine/${encodeURIComponent(remoteName)}`
  return options.nodes.map((url) =>
    createNode({ url, suffix, connections, waiting, connectMs: timeouts.connectMs }),
  )
}
