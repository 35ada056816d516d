import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'

/** File descriptors for logs, sources, Redis, connections to the admin listener, and probes. */
const OTHER_FILES = 100

/**
 * Returns how many clients may be connected at once: the limit of open files minus the files that the gateway itself needs. If
 * clients used all file descriptors, none would be left for the nodes and for the operator's probes.
 */
export function maxConnectionsFor(
  { limits, engines, passthrough }: Config,
  openFiles = readOpenFiles(),
): number {
  const nodes = Object.values(engines).reduce((sum, engine) => sum + engine.nodes.length, 0)
  const applications = passthrough.filter(({ websocket }) => websocket).length
  const own =
    nodes * (limits.connections + limits.longPolls.perNode) +
    applications * limits.webSockets.open +
    OTHER_FILES
  return Math.floor(openFiles - Math.min(own, openFiles / 2))
}

/** Reads the soft limit of open files (getrlimit(2)) if the system provides it as Linux does. Otherwise returns Infinity. */
function readOpenFiles(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}
