import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'

/** For logs, sources, Redis, the admin's connections and probes. */
const OTHER_FILES = 100

/**
 * How many clients may be connected at once: as many as the process may have files open, but for what the gateway itself
 * needs. Clients that took them all would leave none for the nodes, or for the probes of who runs it.
 */
export function placesFor({ limits, engines }: Config, openFiles = readOpenFiles()): number {
  const nodes = Object.values(engines).reduce((sum, engine) => sum + engine.nodes.length, 0)
  const own = nodes * (limits.connections + limits.longPolls.perNode) + OTHER_FILES
  return Math.floor(openFiles - Math.min(own, openFiles / 2))
}

/** The soft limit (getrlimit(2)) where the system tells it as Linux does; else Infinity. */
function readOpenFiles(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}
