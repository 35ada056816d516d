import type { DestinationState } from '../log-destination.ts'
import type { Metrics } from './registry.ts'

/** Returns the state of the destination of each stream. Null if the stream has none. */
type WaitingLines = Readonly<Record<'log' | 'audit', () => DestinationState | null>>

/**
 * Adds the gauges of lines that wait to be written. If the audit lines are written to the log, both streams have the values of the
 * log.
 */
export function addWaitingGauges({ gauges }: Pick<Metrics, 'gauges'>, waiting: WaitingLines): void {
  const read = (valueOf: (state: DestinationState) => number) => () =>
    (['log', 'audit'] as const).map((stream) => {
      const state = waiting[stream]()
      return { labels: { stream }, value: state === null ? null : valueOf(state) }
    })
  gauges(
    {
      name: 'gateway_log_waiting_bytes',
      help: 'Number of bytes of lines that are not written yet, by stream.',
      labels: ['stream'],
    },
    read(({ waitingBytes }) => waitingBytes),
  )
  gauges(
    {
      name: 'gateway_log_waiting_seconds',
      help: 'Age of the oldest line that is not written yet, by stream.',
      labels: ['stream'],
    },
    read(({ oldestMs }) => oldestMs / 1000),
  )
}
