import type { Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { NodeEvent, NodeState } from '../proxy/nodes/node-pool.ts'
import type { ProbeTimes, Upstream } from '../proxy/upstream.ts'
import type { UpstreamOptions } from '../proxy/create-upstream.ts'
import type { Traces } from '../traces/traces.ts'
import type { Component } from '../component.ts'

/** The nodes of an engine or of a passthrough application. */
export interface WatchedNodes {
  /** The name of the engine, or the prefix of the application. */
  readonly engine: string
  /** The upstream with the gateway's own credentials. */
  readonly own: Upstream
  /** Null if nodes are not probed. Failures are then detected by requests alone. */
  readonly probes: ProbeTimes | null
}

interface NodeDependencies {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
  /** Null if no traces are configured. */
  readonly traces: Traces | null
}

export interface EngineNodes extends WatchedNodes {
  readonly deploymentAware: boolean
}

/** Returns the times of the section `health`, or null if it disables probes. */
export function probeTimesOf(
  { probe, interval, timeout }: Config['health'],
  deployments = false,
): ProbeTimes | null {
  return probe ? { intervalMs: interval, timeoutMs: timeout, deployments } : null
}

/** Returns the options of an upstream that the nodes of engines and of applications have in common. */
export function nodeOptionsOf(name: string, { config, metrics, log, traces }: NodeDependencies) {
  const { connect, headers, body, response } = config.timeouts
  const { connections, queue, slowShare } = config.limits
  return {
    engine: name,
    timeouts: { connectMs: connect, headersMs: headers, bodyMs: body, responseMs: response },
    connections,
    health: config.health,
    queue: {
      max: queue.size,
      waitMs: queue.wait,
      targetMs: queue.target,
      onEnd: (result, waitedMs) => metrics.queued({ engine: name, result }, waitedMs / 1000),
    },
    slow: slowShare === 1 ? undefined : slowOptionsOf(name, config.limits, metrics),
    onAttempt: ({ node, result, status, seconds }) =>
      metrics.attempt({ engine: name, node, result, status }, seconds),
    onNodeChange: createOnNodeChange(name, { metrics, log }),
    traced: traces?.startAttempt,
  } satisfies Partial<UpstreamOptions>
}

function slowOptionsOf(
  name: string,
  { queue, slowShare }: Config['limits'],
  metrics: Metrics,
): UpstreamOptions['slow'] {
  return {
    share: slowShare,
    queue: {
      max: queue.size,
      waitMs: queue.wait,
      // Slow requests hold their places for seconds. If the requests in this queue waited only for `target`, none of them would be
      // served.
      targetMs: queue.wait,
      onEnd: (result, waitedMs) => metrics.slowQueued({ engine: name, result }, waitedMs / 1000),
    },
  }
}

/** Creates the monitoring of nodes: probes if they are configured, readiness checks and gauges. */
export function createNodeWatch(
  engines: readonly EngineNodes[],
  applications: readonly WatchedNodes[],
): Component {
  const all: readonly WatchedNodes[] = [...engines, ...applications]
  return {
    start: () => {
      for (const { own, probes } of all) if (probes !== null) own.startProbes(probes)
    },
    // An engine without a healthy node does not make the gateway unready: clients still need the other engines.
    readiness: () => ({
      ready: true,
      checks: Object.fromEntries(all.map(({ engine, own }) => [`nodes of ${engine}:`, wordOf(own)])),
    }),
    stop: () => engines.forEach(endPolls),
    activate: (metrics) => addGauges(metrics, engines, all),
  }
}

/** Responds to all long polls that wait for work, and to those that arrive later. */
export function endPolls({ own }: EngineNodes): void {
  own.polls.drain()
}

/** A node of an engine that an operator has drained while the gateway runs. */
export interface DrainedNode {
  readonly engine: string
  readonly node: string
  /** Whether the node is drained even if its engine has no other node. */
  readonly isForced: boolean
}

/**
 * Drains these nodes, and uses all other nodes again. After a reload, an engine may have no other node than the drained ones. Unless
 * one of them is forced, the engine then keeps its nodes.
 */
export function drainNodes(
  engines: readonly Pick<EngineNodes, 'engine' | 'own'>[],
  drained: readonly DrainedNode[],
  log: Pick<Logger, 'warn'>,
): void {
  for (const { engine, own } of engines) {
    const ofEngine = drained.filter((one) => one.engine === engine)
    const names = new Set(ofEngine.map(({ node }) => node))
    const remaining = own
      .nodes()
      .filter(
        ({ node, isDrained, isDrainedByCommand }) => !names.has(node) && (!isDrained || isDrainedByCommand),
      )
    const isUsable =
      ofEngine.length === 0 || remaining.length > 0 || ofEngine.some(({ isForced }) => isForced)
    if (!isUsable)
      log.warn({ engine, nodes: [...names] }, 'the engine has no other node: its nodes are not drained')
    own.drain(isUsable ? names : new Set())
  }
}

/** The gauges with a value for each node of an engine or application. */
const NODE_GAUGES: readonly (GaugeNaming & { readonly read: (state: NodeState) => number | null })[] = [
  {
    name: 'gateway_node_healthy',
    help: 'Whether the gateway considers a node healthy. A drained node has no value.',
    read: ({ isDrained, reason }) => (isDrained ? null : Number(reason === null)),
  },
  {
    name: 'gateway_node_drained',
    help: 'Whether a node is drained, by the configuration or by a command.',
    read: ({ isDrained }) => Number(isDrained),
  },
  {
    name: 'gateway_node_concurrency_limit',
    help: 'Current limit of concurrent requests to a node. Long polls have a separate limit.',
    read: ({ limit }) => limit,
  },
]

/** The gauges with a value for each engine or application. */
const QUEUE_GAUGES: readonly (GaugeNaming & { readonly read: (own: Upstream) => number })[] = [
  {
    name: 'gateway_upstream_queue',
    help: 'Number of requests that wait because all nodes of the engine are at their limit.',
    read: (own) => own.waiting(),
  },
  {
    name: 'gateway_upstream_queue_standing',
    help: 'Whether the queue is standing: requests have waited for a long time, and new requests may wait only for limits.queue.target.',
    read: (own) => Number(own.isQueueStanding()),
  },
]

/** The gauges with a value for each engine and state of requests. */
const STATE_GAUGES: readonly (GaugeNaming & {
  readonly read: (own: Upstream) => Readonly<Record<string, number>>
})[] = [
  {
    name: 'gateway_slow_requests',
    help: 'Number of requests of slow operations: running at the nodes, or waiting for a place.',
    read: (own) => ({ ...own.slow() }),
  },
  {
    name: 'gateway_long_polls',
    help: 'Number of long polls: open at a node, waiting in the gateway, or abandoned by their clients and still open at a node.',
    read: (own) => ({ ...own.polls.counts() }),
  },
]

type GaugeNaming = Pick<Parameters<Metrics['gauges']>[0], 'name' | 'help'>

function addGauges(metrics: Metrics, engines: readonly EngineNodes[], all: readonly WatchedNodes[]): void {
  for (const { name, help, read } of NODE_GAUGES)
    metrics.gauges({ name, help, labels: ['engine', 'node'] }, () =>
      all.flatMap(({ engine, own }) =>
        own.nodes().map((state) => ({ labels: { engine, node: state.node }, value: read(state) })),
      ),
    )
  for (const { name, help, read } of QUEUE_GAUGES)
    metrics.gauges({ name, help, labels: ['engine'] }, () =>
      all.map(({ engine, own }) => ({ labels: { engine }, value: read(own) })),
    )
  for (const { name, help, read } of STATE_GAUGES)
    metrics.gauges({ name, help, labels: ['engine', 'state'] }, () =>
      engines.flatMap(({ engine, own }) =>
        Object.entries(read(own)).map(([state, value]) => ({ labels: { engine, state }, value })),
      ),
    )
  metrics.gauges(
    {
      name: 'gateway_node_deployments_missing',
      help: 'Number of deployments that another healthy node of the engine has registered and this node has not.',
      labels: ['engine', 'node'],
    },
    () => engines.filter(({ deploymentAware }) => deploymentAware).flatMap(missingDeploymentsOf),
  )
}

function missingDeploymentsOf({ engine, own }: EngineNodes) {
  const healthy = own.nodes().filter(({ isDrained, reason }) => !isDrained && reason === null)
  const all = new Set(healthy.flatMap(({ registered }) => [...registered]))
  return healthy.map(({ node, registered }) => ({
    labels: { engine, node },
    value: all.size - registered.size,
  }))
}

function wordOf(upstream: Upstream): string {
  const live = upstream.nodes().filter(({ isDrained }) => !isDrained)
  if (live.length === 0) return 'all are drained'
  const healthy = live.filter(({ reason }) => reason === null)
  if (healthy.length === 0) return `none of ${live.length} is healthy`
  const ejected = live.length - healthy.length
  // If half of the nodes are ejected, nodes with bad responses are used again.
  return ejected * 2 < live.length ? 'ok' : `${ejected} of ${live.length} are ejected`
}

/** Returns a function that counts and logs state changes of one engine's nodes. */
export function createOnNodeChange(engine: string, { metrics, log }: { metrics: Metrics; log: Logger }) {
  return function onNodeChange(event: NodeEvent): void {
    const { node, reason, detail, periodMs, healthy, nodes } = event
    const line = { engine, node, healthy, nodes }
    if (reason === null) {
      log.info(line, 'node is healthy again')
      return
    }
    metrics.ejection({ engine, node, reason })
    log.warn({ ...line, reason, ...(detail === '' ? {} : { detail }), periodMs }, 'node ejected')
  }
}
