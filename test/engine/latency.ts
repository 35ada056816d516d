import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

const EVERY_MS = 20

export interface Latency {
  /** In milliseconds, as they ended. */
  readonly durations: readonly number[]
  /** Answers that were no success. */
  readonly failed: readonly string[]
}

/** Asks for a count fifty times a second, however long the answers take, until the promise resolves. */
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

/** The duration that 99 of 100 calls do not exceed, in the middle one of all hundreds: a pause of the machine is in one of them. */
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
