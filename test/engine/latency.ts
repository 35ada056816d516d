import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'

const EVERY_MS = 50

export interface Latency {
  /** In milliseconds, sorted. */
  readonly sorted: readonly number[]
  /** Answers that were no success. */
  readonly failed: readonly string[]
}

/** Asks for a count twenty times a second, however long the answers take, until the promise resolves. */
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
  return { sorted: durations.toSorted((a, b) => a - b), failed }
}

/** The duration that 99 of 100 do not exceed. */
export function p99Of({ sorted }: Latency): number {
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}
