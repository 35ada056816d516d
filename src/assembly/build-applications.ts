import { applicationNodesOf, type Config } from '../config/config.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Application } from '../pipeline/dependencies.ts'
import { createUpstream } from '../proxy/create-upstream.ts'
import { APPLICATION_REQUEST_HEADERS, withAdded } from '../proxy/wire/allowed-headers.ts'
import type { Traces } from '../traces/traces.ts'
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
  const { prefix, auth, cookies, forwarded, requestHeaders, tls, probe: probePath } = setting
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
    },
    nodes: {
      engine: prefix,
      own: upstream,
      probes: probePath === undefined ? null : probeTimesOf(options.config.health),
    },
  }
}
