import type { Registry } from 'prom-client'
import { createCounts } from './series.ts'

/** Counts a request with an Idempotency-Key, or what became of it. */
export type CountIdempotent = (engine: string, result: string) => void

export function createIdempotent(registry: Registry): { readonly idempotent: CountIdempotent } {
  const counts = createCounts({
    name: 'gateway_idempotent_requests_total',
    help: 'Requests with an Idempotency-Key by what was found under it, and outcomes that were released or not kept.',
    labels: ['engine', 'result'],
    registry,
  })
  return { idempotent: (engine, result) => counts({ engine, result }) }
}
