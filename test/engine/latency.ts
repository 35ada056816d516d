import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

const EVERY_MS = 20

export interface Latency {
  /** Durations in milliseconds, in the order in which the requests ended. */
  readonly durations: readonly number[]
  /** Responses without success. */
  readonly failed: readonly string[]
}

/** Requests a count fifty times a second, however long the responses take, until the promise resolves. */
export async function measureLatency(
  { base, headers }: GatewayProcess,
  until: Promise<unknown>,
): Promise<Latency> {
  const durations: number[] = []
  const failed: string[] = []
  const underWay = new Set<Promise<void>>()
  const ask = async (): Promise<void> => {
    const atMs = performance.now()
    const { status } = await exchange(base, { method: 'GET', path: '/process-definition/count' }, headers)
    durations.push(performance.now() - atMs)
    if (status !== 200) failed.push(String(status))
  }
  const pace = setInterval(() => {
    const one: Promise<void> = ask()
      .catch((error: unknown) => void failed.push(String(error)))
      .finally(() => underWay.delete(one))
    underWay.add(one)
  }, EVERY_MS)
  await until
  clearInterval(pace)
  await Promise.all(underWay)
  return { durations, failed }
}

const WINDOW = 100

/** Returns the median of the 99th percentiles of all groups of 100 calls, because a pause of the machine affects only one group. */
export function p99Of({ durations }: Latency): number {
  const hundreds = Math.max(1, Math.floor(durations.length / WINDOW))
  const each = Array.from({ length: hundreds }, (_, index) =>
    quantileOf(durations.slice(index * WINDOW, (index + 1) * WINDOW), 0.99),
  )
  return quantileOf(each, 0.5)
}

function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
