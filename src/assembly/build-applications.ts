import { basePathOf } from '../config/base-path.ts'
import { applicationNodesOf, type Config } from '../config/config.ts'
import { enginesNear } from '../config/engine-hosts.ts'
import { parsePathRule } from '../config/path-rules.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Application } from '../pipeline/dependencies.ts'
import { createUpstream } from '../proxy/create-upstream.ts'
import { OpenWebSockets, type WebSocketLimits } from '../proxy/passthrough/open-web-sockets.ts'
import { createPathGuard, type PathGuard } from '../proxy/passthrough/path-guard.ts'
import { APPLICATION_REQUEST_HEADERS, withAdded } from '../proxy/wire/allowed-headers.ts'
import type { Traces } from '../traces/traces.ts'
import type { Component } from '../component.ts'
import { nodeOptionsOf, probeTimesOf, type WatchedNodes } from './running-nodes.ts'

interface ApplicationOptions {
  readonly config: Config
  readonly metrics: Metrics
  readonly log: Logger
  /** Null if no traces are configured. */
  readonly traces: Traces | null
}

export interface BuiltApplication {
  readonly application: Application
  readonly nodes: WatchedNodes
}

/**
 * Builds the application of each passthrough prefix. In metrics and log lines about its nodes, the prefix takes the place of the
 * engine name.
 */
export function buildApplications(options: ApplicationOptions): readonly BuiltApplication[] {
  return options.config.passthrough.map((setting) => buildApplication(setting, options))
}

function buildApplication(
  setting: Config['passthrough'][number],
  options: ApplicationOptions,
): BuiltApplication {
  const { prefix, auth, cookies, forwarded, requestHeaders, tls, websocket, probe: probePath } = setting
  const nodes = applicationNodesOf(setting)
  // Credentials that the gateway does not require are meant for the application.
  const requestPolicy = {
    credentials: auth === 'none' ? 'forward' : 'none',
    host: 'node',
    cookies: true,
    requestHeaders: withAdded(APPLICATION_REQUEST_HEADERS, requestHeaders),
  } as const
  const upstream = createUpstream({
    credentials: requestPolicy.credentials,
    host: requestPolicy.host,
    responsePolicy: { names: 'all', restrictsContent: false },
    nodes,
    tls,
    probePath,
    ...nodeOptionsOf(prefix, options),
  })
  return {
    application: {
      prefix,
      auth,
      cookies,
      forwarded,
      requestPolicy,
      upstream,
      nodes: nodes.map(({ url }) => url),
      guard: guardOf(setting, options.config),
      webSockets: websocket ? new OpenWebSockets(webSocketLimitsOf(options.config)) : null,
    },
    nodes: {
      engine: prefix,
      own: upstream,
      probes: probePath === undefined ? null : probeTimesOf(options.config.health),
    },
  }
}

function guardOf(setting: Config['passthrough'][number], { engines }: Config): PathGuard {
  const { prefix, engineFunctions, deny, allow } = setting
  const nodes = applicationNodesOf(setting)
  const near = enginesNear(nodes, Object.entries(engines))
  return createPathGuard({
    prefix,
    nodePath: basePathOf(nodes[0]?.url ?? ''),
    enginePaths: near.length === 0 ? null : near.map(({ path }) => path),
    forwardsFunctions: engineFunctions === 'forward',
    deny: deny.map(parsePathRule),
    allow: allow.map(parsePathRule),
  })
}

function webSocketLimitsOf({ limits: { webSockets } }: Config): WebSocketLimits {
  const { open, perUser, idle, maxAge } = webSockets
  return { open, perUser, idleMs: idle, maxAgeMs: maxAge }
}

/** Creates the component that closes the WebSockets of applications, and shows how many are open. */
export function createWebSocketWatch(applications: readonly Application[]): Component {
  const all = applications.flatMap(({ prefix, webSockets }) =>
    webSockets === null ? [] : [{ prefix, webSockets }],
  )
  return {
    activate: (metrics) =>
      metrics.gauges(
        {
          name: 'gateway_websockets',
          help: 'Number of open WebSockets of an application, under the configuration in force.',
          labels: ['engine'],
        },
        () => all.map(({ prefix, webSockets }) => ({ labels: { engine: prefix }, value: webSockets.size })),
      ),
    // The users and records of a runtime that was stopped are no longer read, so its sockets cannot be checked.
    stop: () => all.forEach(({ webSockets }) => webSockets.stop()),
  }
}
