import type { Readiness } from '../metrics/admin-listener.ts'
import type { Metrics } from '../metrics/registry.ts'

/** A part of a runtime with a lifecycle of its own. A component leaves out the members that it does not need. */
export interface Component {
  /** Begins work in the background. Resolves after the first read, or after `withinMs`. */
  readonly start?: (withinMs?: number) => void | Promise<void>
  /** Returns checks by name, and whether they permit the gateway to be ready. */
  readonly readiness?: () => Readiness
  /** Registers the gauges of the component when its runtime is put in force. Replaces those of the previous runtime. */
  readonly gauges?: (metrics: Metrics) => void
  /** Ends the work in the background. Requests in flight continue with the last state. */
  readonly close?: () => void
}

/** Components that are started and closed together. */
interface CombinedComponents extends Required<Component> {
  readonly start: (withinMs?: number) => Promise<void>
}

/** Combines components into one. Checks, gauges and the end of the work are in the order of the list. */
export function combined(components: readonly Component[]): CombinedComponents {
  return {
    start: async (withinMs) => {
      // In reverse order: the first component reads from the engines that later components watch.
      const started = components.toReversed().map(({ start }) => Promise.resolve(start?.(withinMs)))
      await Promise.all(started)
    },
    readiness: () => {
      const all = components.flatMap(({ readiness }) => (readiness === undefined ? [] : [readiness()]))
      return {
        ready: all.every(({ ready }) => ready),
        checks: Object.fromEntries(all.flatMap(({ checks }) => Object.entries(checks))),
      }
    },
    gauges: (metrics) => {
      for (const { gauges } of components) gauges?.(metrics)
    },
    close: () => {
      for (const { close } of components) close?.()
    },
  }
}
