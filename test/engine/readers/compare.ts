import type { Test } from 'tap'
import { Random } from '../../differential/random.ts'
import { seed } from '../../support/requirements.ts'

/** Enough for an engine on two cores to have always something to do. */
export const CONNECTIONS = 6
/** More of them say nothing new. */
const MAX_SHOWN = 20

export interface Comparison<Input> {
  /** What is read, for the report. */
  readonly what: string
  readonly inputs: number
  /** The same number in every run: an input depends on the seed, on it and on its place alone. */
  readonly part: number
  readonly make: (random: Random, place: number) => Input
  /** `refused`: the gateway refuses what the engine may read. Else what differs; null: nothing. */
  readonly compare: (input: Input, place: number) => Promise<Outcome>
  /** The share of inputs that may be refused: above it the comparison says little. Default 0.5. */
  readonly maxRefused?: number
}

export type Outcome = Difference | 'refused' | null

export interface Difference {
  readonly engine: unknown
  readonly gateway: unknown
}

/** Makes inputs, asks both readers, and fails with each input that they read differently. */
export async function compareReaders<Input>(t: Test, comparison: Comparison<Input>): Promise<void> {
  const { what, inputs, part, make, compare, maxRefused = 0.5 } = comparison
  const differing: string[] = []
  let [next, refused] = [0, 0]
  const startedAt = performance.now()
  async function work(): Promise<void> {
    while (next < inputs) {
      const place = next
      next += 1
      const input = make(Random.of(seed + part, place), place)
      const outcome = await compare(input, place)
      if (outcome === 'refused') refused += 1
      else if (outcome !== null) differing.push(JSON.stringify({ place, input: shown(input), ...outcome }))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  t.comment(
    `${what}: ${inputs} inputs of GATEWAY_TEST_SEED=${seed}, ${refused} refused here, ${differing.length} read differently, ${seconds} s`,
  )
  for (const difference of differing.slice(0, MAX_SHOWN)) t.comment(difference)
  t.equal(differing.length, 0, `${what}: so many of ${inputs} are read differently`)
  t.ok(refused <= inputs * maxRefused, `${refused} of ${inputs} are refused`)
}

function shown(input: unknown): unknown {
  return Buffer.isBuffer(input) ? input.toString('latin1') : input
}
