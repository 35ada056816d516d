import t from 'tap'
import { fisherProbability } from '../../../src/proxy/nodes/fisher-test.ts'

/** Failures and attempts of one sample and of the other one, with the sum of binomial coefficients computed in exact integers. */
const CASES: readonly (readonly [of: readonly [number, number, number, number], probability: number])[] = [
  [[8, 10, 1, 6], 0.024475524475524476],
  [[5, 5, 0, 100], 1.0356185893785342e-8],
  [[3, 3, 3, 3], 1],
  [[60, 1000, 100, 10_000], 5.470974429591522e-23],
]

t.test('the probability is that of the one-sided exact test', async (t) => {
  for (const [[failures, attempts, otherFailures, otherAttempts], expected] of CASES) {
    const found = fisherProbability(
      { attempts, failures },
      { attempts: otherAttempts, failures: otherFailures },
    )
    t.ok(Math.abs(found / expected - 1) < 1e-9, `${found} and ${expected}`)
  }
})

t.test('the probability is the sum of the terms, computed with exact integers', async (t) => {
  for (let attempts = 1; attempts <= 12; attempts += 1)
    for (let failures = 0; failures <= attempts; failures += 1)
      for (let otherFailures = 0; otherFailures <= 9; otherFailures += 3) {
        const [one, other] = [
          { attempts, failures },
          { attempts: 20, failures: otherFailures },
        ]
        const found = fisherProbability(one, other)
        const exact = exactOf(one, other)
        const isMore = failures / attempts > otherFailures / 20
        t.ok(
          isMore ? Math.abs(found / exact - 1) < 1e-9 : found === 1,
          `${failures} of ${attempts}, ${found}, ${exact}`,
        )
      }
})

t.test('large samples are computed at once', async (t) => {
  const probability = fisherProbability(
    { attempts: 300_000, failures: 30_900 },
    { attempts: 200_000, failures: 20_000 },
  )
  t.ok(probability > 0 && probability < 0.001, String(probability))
  t.equal(fisherProbability({ attempts: 300_000, failures: 299_999 }, { attempts: 200_000, failures: 0 }), 0)
})

interface Counts {
  readonly attempts: number
  readonly failures: number
}

function exactOf(one: Counts, other: Counts): number {
  const failures = one.failures + other.failures
  const successes = one.attempts + other.attempts - failures
  let sum = 0n
  for (let at = one.failures; at <= Math.min(one.attempts, failures); at += 1)
    sum += choose(failures, at) * choose(successes, one.attempts - at)
  const scale = 10n ** 30n
  return Number((sum * scale) / choose(failures + successes, one.attempts)) / 1e30
}

function choose(all: number, chosen: number): bigint {
  if (chosen < 0 || chosen > all) return 0n
  let result = 1n
  for (let at = 1; at <= chosen; at += 1) result = (result * BigInt(all - chosen + at)) / BigInt(at)
  return result
}
