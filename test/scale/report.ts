import type { Compared, Pair } from './compare.ts'

/** The result of a run. It is stored so that another run can be compared with it. */
export interface ScaleResult extends Compared {
  /** The number of process instances. */
  readonly instances: number
}

/** The share of pairs of an operation and a caller that must be equal. */
const EQUAL = 0.95
const MAX_MEMORY_BYTES = 300e6
/** The maximum time of the median pair and of the most expensive pair, as multiples of the secured engine's time. */
const MEDIAN_COST = 1.5
const MAX_COST = 5
/** The maximum growth of the gateway's time, as a multiple of the growth of the engine's time. */
const MAX_GROWTH = 1.2

/** The caller that sees the same items, no matter how many instances there are. */
const FIFTY_INSTANCES = 'scaleinstances'

/** Returns the lines of the report, and whether all limits are met. */
export function reportOf({ pairs, peakBytes }: Compared): {
  readonly lines: readonly string[]
  readonly isGood: boolean
} {
  const equal = pairs.filter(({ outcome }) => outcome === 'equal')
  const [refused, differs, wider] = (['refused', 'differs', 'wider'] as const).map(
    (outcome) => pairs.filter((pair) => pair.outcome === outcome).length,
  )
  const costs = sorted(equal.map(costOf))
  const dear = equal.filter((pair) => costOf(pair) > MAX_COST)
  const share = equal.length / pairs.length
  const lines = [
    ...[...new Set(pairs.map(({ path }) => path))].map((path) => pathLine(path, pairs)),
    ...dear.map(
      (pair) =>
        `above ${MAX_COST} times: ${pair.path} ${pair.user}, ${pair.gatewayMs.toFixed(1)} ms against ${pair.securedMs.toFixed(1)} ms`,
    ),
    `pairs: ${pairs.length}, equal: ${equal.length} (${(100 * share).toFixed(1)} %), refused: ${refused}, different: ${differs}, wider: ${wider}; median cost ${medianOf(costs).toFixed(2)}, at most ${(costs.at(-1) ?? 0).toFixed(2)}, above ${MAX_COST}: ${dear.length}; gateway's memory at most ${Math.round(peakBytes / 1e6)} MB`,
  ]
  const isGood =
    wider === 0 &&
    share >= EQUAL &&
    dear.length === 0 &&
    medianOf(costs) <= MEDIAN_COST &&
    peakBytes <= MAX_MEMORY_BYTES
  return { lines, isGood }
}

/** Returns the line for one pair, which is printed as soon as the pair was compared. */
export function pairLineOf(pair: Pair): string {
  const { path, user, outcome, securedMs, gatewayMs, peakBytes } = pair
  const times = `${gatewayMs.toFixed(1)} ms against ${securedMs.toFixed(1)} ms`
  return `${path} ${user}: ${outcome}, ${times}, ${costOf(pair).toFixed(2)} times, ${Math.round(peakBytes / 1e6)} MB`
}

function pathLine(path: string, pairs: readonly Pair[]): string {
  const own = pairs.filter((pair) => pair.path === path)
  const others = own.filter(({ outcome }) => outcome !== 'equal')
  const said = others.map(({ user, outcome }) => `${user} ${outcome}`).join(', ')
  const costs = sorted(own.map(costOf))
  const dearest = own.find((pair) => costOf(pair) === costs.at(-1))
  return `${path}: ${own.length - others.length} of ${own.length} equal${said === '' ? '' : ` (${said})`}; cost ${medianOf(costs).toFixed(2)}, at most ${(costs.at(-1) ?? 0).toFixed(2)} (${dearest?.user}: ${dearest?.gatewayMs.toFixed(0)} ms)`
}

/** Returns how the times of equal pairs grew since a run with fewer instances, and the gateway's growth relative to the engine's. */
export function growthOf(
  before: ScaleResult,
  after: ScaleResult,
): { readonly lines: readonly string[]; readonly isGood: boolean } {
  const earlier = new Map(before.pairs.map((pair) => [keyOf(pair), pair]))
  const growths = after.pairs.flatMap((pair) => {
    const old = earlier.get(keyOf(pair))
    if (old?.outcome !== 'equal' || pair.outcome !== 'equal') return []
    const [engine, gateway] = [pair.securedMs / old.securedMs, pair.gatewayMs / old.gatewayMs]
    return [{ path: pair.path, user: pair.user, engine, gateway, relative: gateway / engine }]
  })
  const middle = (of: (one: (typeof growths)[number]) => number, some = growths) =>
    medianOf(sorted(some.map(of)))
  const paths = [...new Set(growths.map(({ path }) => path))]
  const said = (some: typeof growths) =>
    `engine ${middle(({ engine }) => engine, some).toFixed(2)} times, gateway ${middle(({ gateway }) => gateway, some).toFixed(2)} times; the gateway's growth ${middle(({ relative }) => relative, some).toFixed(2)} of the engine's`
  const lines = [
    `growth of the time from ${before.instances} to ${after.instances} instances, medians:`,
    ...paths.map((path) => `${path}: ${said(growths.filter((one) => one.path === path))}`),
    `rows that do not become more (${FIFTY_INSTANCES}): ${said(growths.filter(({ user }) => user === FIFTY_INSTANCES))}`,
    `all ${growths.length} pairs: ${said(growths)}`,
  ]
  return { lines, isGood: middle(({ relative }) => relative) <= MAX_GROWTH }
}

function keyOf({ path, user }: Pair): string {
  return `${path} ${user}`
}

/** Returns the gateway's time as a multiple of the secured engine's time. */
function costOf({ securedMs, gatewayMs }: Pair): number {
  return gatewayMs / securedMs
}

function sorted(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other)
}

function medianOf(numbers: readonly number[]): number {
  return numbers[numbers.length >> 1] ?? 0
}
