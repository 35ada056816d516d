import type { Readiness } from './metrics/admin-listener.ts'
import type { Metrics } from './metrics/registry.ts'

/** A part of a runtime with a lifecycle of its own. A component leaves out the members that it does not need. */
export interface Component {
  /** Begins work in the background. Resolves after the first read, or after `withinMs`. */
  readonly start?: (withinMs?: number) => void | Promise<void>
  /** Returns checks by name, and whether they permit the gateway to be ready. */
  readonly readiness?: () => Readiness
  /**
   * Called when the runtime begins to serve requests. Registers the gauges of the component, which replace those of the previous
   * runtime. From now on, the component closes the resources that it received from that runtime.
   */
  readonly activate?: (metrics: Metrics) => void
  /** Ends the work in the background. Requests in flight continue with the last state. */
  readonly stop?: () => void
  /** Closes connections after the last request. All components close at the same time. */
  readonly close?: () => Promise<unknown>
  /** Closes what other components use while they close, for example traces. Called after each `close` has resolved. */
  readonly release?: () => void | Promise<void>
}

/** Components that are started and closed together. */
interface CombinedComponents extends Required<Omit<Component, 'release'>> {
  readonly start: (withinMs?: number) => Promise<void>
  /** Stops all components, then closes them, then releases them. */
  readonly close: () => Promise<void>
}

/** Combines components into one. Except for the start, each step is in the order of the list. */
export function combined(components: readonly Component[]): CombinedComponents {
  const stop = () => {
    for (const component of components) component.stop?.()
  }
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
    activate: (metrics) => {
      for (const { activate } of components) activate?.(metrics)
    },
    stop,
    close: async () => {
      stop()
      await Promise.all(components.map(async ({ close }) => close?.()))
      for (const { release } of components) await release?.()
    },
  }
}
