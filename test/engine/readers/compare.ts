import type { Test } from 'tap'
import { Random } from '../../differential/random.ts'
import { seed } from '../../support/requirements.ts'

/** Enough connections to keep an engine on two cores busy. */
export const CONNECTIONS = 6
/** Further differences would add no information. */
const MAX_SHOWN = 20
/** All differences together must be shorter than 16 KiB: tap loses the assertions of a test that follow longer comments. */
const MAX_SHOWN_CHARS = 700

export interface Comparison<Input> {
  /** The subject of the comparison, for the report. */
  readonly what: string
  readonly inputs: number
  /** A fixed number, so that an input depends only on the seed, on this number and on its place. */
  readonly part: number
  readonly make: (random: Random, place: number) => Input
  /** Resolves to `refused` if the gateway refuses an input that the engine may accept, to the difference, or to null if both agree. */
  readonly compare: (input: Input, place: number) => Promise<Outcome>
  /** The share of inputs that may be refused. With a higher share the comparison is not meaningful. Default: 0.5. */
  readonly maxRefused?: number
}

export type Outcome = Difference | 'refused' | null

export interface Difference {
  readonly engine: unknown
  readonly gateway: unknown
}

/** Makes inputs, sends them to both parsers, and fails with each input that they parse differently. */
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
  for (const difference of differing.slice(0, MAX_SHOWN)) t.comment(difference.slice(0, MAX_SHOWN_CHARS))
  t.equal(differing.length, 0, `${what}: so many of ${inputs} are read differently`)
  t.ok(refused <= inputs * maxRefused, `${refused} of ${inputs} are refused`)
}

function shown(input: unknown): unknown {
  return Buffer.isBuffer(input) ? input.toString('latin1') : input
}
