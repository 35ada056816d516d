/** Trials and the failures among them. Both are whole numbers. */
export interface AttemptCounts {
  readonly attempts: number
  readonly failures: number
}

/** A term of the sum that is smaller than this share of it, and all later ones, change no digit that matters. */
const NEGLIGIBLE = 1e-12

/**
 * Returns the one-sided probability of Fisher's exact test: how likely `one` has at least its failures if both samples have the same
 * true share. The result is 1 if the share of `one` is not the larger one. The time grows with the number of failures.
 */
export function fisherProbability(one: AttemptCounts, other: AttemptCounts): number {
  const total = one.attempts + other.attempts
  const failures = one.failures + other.failures
  if (one.failures * total <= failures * one.attempts) return 1
  const successes = total - failures
  const good = one.attempts - one.failures
  let term = 1
  let sum = 1
  const most = Math.min(one.attempts, failures)
  for (let at = one.failures; at < most && term > NEGLIGIBLE * sum; at += 1) {
    term *= ((failures - at) * (one.attempts - at)) / ((at + 1) * (successes - one.attempts + at + 1))
    sum += term
  }
  const logOfFirst =
    logOfChoices(failures, one.failures) + logOfChoices(successes, good) - logOfChoices(total, one.attempts)
  return Math.min(1, Math.exp(logOfFirst) * sum)
}

/** Returns the logarithm of the number of ways to choose `chosen` of `all`. */
function logOfChoices(all: number, chosen: number): number {
  return logOfFactorial(all) - logOfFactorial(chosen) - logOfFactorial(all - chosen)
}

/** The logarithms of the factorials of 0 to 15, for which Stirling's series is too inexact. */
const SMALL = createSmall(15)

function createSmall(most: number): readonly number[] {
  const logs = [0]
  for (let n = 1; n <= most; n += 1) logs.push((logs[n - 1] ?? 0) + Math.log(n))
  return logs
}

/** Stirling's series (NIST DLMF 5.11.1). The error is below 1e-10. */
function logOfFactorial(n: number): number {
  const small = SMALL[n]
  if (small !== undefined) return small
  const x = n + 1
  return (
    (x - 0.5) * Math.log(x) -
    x +
    0.5 * Math.log(2 * Math.PI) +
    1 / (12 * x) -
    1 / (360 * x ** 3) +
    1 / (1260 * x ** 5)
  )
}
