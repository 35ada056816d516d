import { basePathOf } from './base-path.ts'
import type { EngineConfig } from './schema.ts'

/** Hosts, in a URL or alone, that only this machine can reach. */
export const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/

/** Further addresses in a URL that lead to this machine: those of all interfaces, and 127.0.0.0/8 written as IPv6. */
const CONNECTS_HERE = /^(?:0\.0\.0\.0|\[::\]|\[::ffff:(?:0:0|7f[\da-f]{2}:[\da-f]{1,4})\])$/

/** A node of an engine that is on the same host as a node of an application. */
export interface EngineNearby {
  readonly engine: string
  /** The host of both nodes. With the port if it is this machine: `engine-a`, `localhost:8080`. */
  readonly host: string
  /** The path of the engine's API on the node: `/engine-rest`. Empty if it is the root. */
  readonly path: string
}

/**
 * Returns the nodes of engines that are on the same host as one of these nodes. All ports of a host count, because a server may
 * have several, for example one with TLS. Only on this machine, each port is another program. Other names of a host are not known.
 */
export function enginesNear(
  nodes: EngineConfig['nodes'],
  engines: readonly (readonly [name: string, engine: Pick<EngineConfig, 'nodes'>])[],
): readonly EngineNearby[] {
  const hosts = new Set(nodes.map(({ url }) => hostOf(url)))
  return engines.flatMap(([engine, own]) =>
    own.nodes
      .map(({ url }) => ({ engine, host: hostOf(url), path: basePathOf(url) }))
      .filter(({ host }) => hosts.has(host)),
  )
}

function hostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  const name = hostname.replace(/\.$/, '')
  if (!THIS_MACHINE.test(name) && !CONNECTS_HERE.test(name)) return name
  return `localhost:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
}
