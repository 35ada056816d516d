import { type ChainedLine, digestNumberOf } from './audit-chain.ts'
import type { Metrics } from './registry.ts'

/** How long the gauges have the values of the same line. */
const SAMPLE_MS = 60_000

/**
 * Adds gauges with the number and the digest of the last audit line of this process, once a minute. A system that stores them holds
 * a proof of the line outside the gateway. The digest is a value, not a label, so each writer has one series.
 */
export function addLastAuditLineGauges(
  { gauges }: Pick<Metrics, 'gauges'>,
  last: () => ChainedLine | null,
  now: () => number = () => performance.now(),
): void {
  let sampled: { readonly line: ChainedLine | null; readonly atMs: number } = { line: null, atMs: -Infinity }
  const read = (valueOf: (line: ChainedLine) => number) => () => {
    // Both gauges must describe the same line.
    if (sampled.line === null || now() - sampled.atMs >= SAMPLE_MS) sampled = { line: last(), atMs: now() }
    const { line } = sampled
    return line === null ? [] : [{ labels: { writer: line.writer }, value: valueOf(line) }]
  }
  gauges(
    {
      name: 'gateway_audit_last_sequence',
      help: 'Number of the last audit line of a writer, as of the last minute.',
      labels: ['writer'],
    },
    read(({ sequence }) => sequence),
  )
  gauges(
    {
      name: 'gateway_audit_last_digest',
      help: 'First 48 bits of the digest of this line.',
      labels: ['writer'],
    },
    read(({ digest }) => digestNumberOf(digest)),
  )
}
