import { Counter, Histogram } from 'prom-client'
import type { HistogramConfiguration, Registry } from 'prom-client'

interface Naming<L extends string> {
  readonly name: string
  readonly help: string
  readonly labels: readonly L[]
  readonly registry: Registry
}

type Values<L extends string> = Readonly<Record<L, string>>

/**
 * How many combinations of labels one metric may have. Labels come from the table and the configuration and stay far
 * below it; should one ever not, all further combinations are counted as `other`, and the process does not grow.
 */
export const MAX_SERIES = 20_000
const OTHER = 'other'
const PLAIN = /^[\w.:/[\]-]{0,128}$/

/** What one combination of labels has counted. */
export interface CountReading {
  /** In the order of the labels. */
  readonly values: readonly string[]
  readonly count: number
}

/** A counter, of one event or of several at once. */
export function createCounts<L extends string>(
  naming: Naming<L>,
): (values: Values<L>, events?: number) => void {
  return createReadableCounts(naming).count
}

/** A counter that can be read without a scrape. The library hears of the counts when it is scraped: it looks the labels up anew with every one. */
export function createReadableCounts<L extends string>({ name, help, labels, registry }: Naming<L>) {
  const tallies: { readonly values: readonly string[]; count: number; told: number }[] = []
  const tallyOf = remembered(labels, (values) => {
    const tally = { values, count: 0, told: 0 }
    tallies.push(tally)
    return tally
  })
  const tell = (): void => {
    for (const tally of tallies) {
      counter.labels(...tally.values).inc(tally.count - tally.told)
      tally.told = tally.count
    }
  }
  const counter = new Counter({ name, help, labelNames: labels, registers: [registry], collect: tell })
  return {
    count: (values: Values<L>, events = 1): void => {
      tallyOf(values).count += events
    },
    read: (): readonly CountReading[] => tallies,
  }
}

/** OpenTelemetry's buckets for HTTP durations, in seconds. */
export const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Durations of one combination of labels. */
export interface DurationReading {
  readonly labels: Readonly<Record<string, string>>
  /** By bucket, those above all of them last. */
  readonly counts: readonly number[]
}

interface Durations extends DurationReading {
  readonly counts: number[]
  sum: number
}

/** A histogram. */
export function createDurations<L extends string>(
  naming: Naming<L>,
): (values: Values<L>, seconds: number) => void {
  return createReadableDurations(naming).observe
}

/**
 * A histogram that can be read without a scrape. As with counts the library hears of it when it is scraped: its own takes six
 * times as long for each (0.88 against 0.15 µs).
 */
export function createReadableDurations<L extends string>({ name, help, labels, registry }: Naming<L>) {
  const all = new Map<string, Durations>()
  const durationsOf = remembered(labels, (values) => {
    const key = values.join(' ')
    const named = Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
    // Of several that are counted as `other` there is one: a scraper refuses a page that says something twice.
    const durations = all.get(key) ?? {
      labels: named,
      counts: [...BUCKETS, Infinity].map(() => 0),
      sum: 0,
    }
    all.set(key, durations)
    return durations
  })
  const rows = () => [...all.values()].flatMap((durations) => valuesOf(name, durations))
  registry.registerMetric(new ToldHistogram({ name, help, labelNames: labels, registers: [] }, rows))
  return {
    observe: (values: Values<L>, seconds: number): void => {
      const durations = durationsOf(values)
      let at = 0
      while (at < BUCKETS.length && seconds > (BUCKETS[at] ?? 0)) at += 1
      durations.counts[at] = (durations.counts[at] ?? 0) + 1
      durations.sum += seconds
    },
    read: (): Iterable<DurationReading> => all.values(),
  }
}

/** A histogram of the library that tells what others have counted. */
class ToldHistogram extends Histogram<string> {
  readonly #told: { readonly name: string; readonly help: string }
  readonly #rows: () => ReturnType<typeof valuesOf>

  constructor(
    { name, help, ...more }: HistogramConfiguration<string>,
    rows: () => ReturnType<typeof valuesOf>,
  ) {
    super({ name, help, ...more })
    this.#told = { name, help }
    this.#rows = rows
  }

  /** The library's `get` and its text are made of this (`lib/histogram.js`, `lib/registry.js`). */
  async getForPromString() {
    return { ...this.#told, type: 'histogram', aggregator: 'sum', values: this.#rows() }
  }
}

/** As the library has them: each bucket with all that is below it, then the sum and the count. */
function valuesOf(name: string, { labels, counts, sum }: Durations) {
  const sharedLabels = {}
  let count = 0
  const buckets = counts.map((own, index) => {
    count += own
    const le = BUCKETS[index] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, sharedLabels, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, sharedLabels, value: sum },
    { metricName: `${name}_count`, labels, sharedLabels, value: count },
  ]
}

/** Of the values so far: by the value of the next label, or what belongs to all of them. */
interface Branch<C> {
  readonly next: Map<string, Branch<C>>
  child?: C
}

/** A tree, label by label: to put the values together to one key would cost more than all else that is done for a metric. */
function remembered<L extends string, C>(
  labels: readonly L[],
  resolve: (values: readonly string[]) => C,
): (values: Values<L>) => C {
  const root: Branch<C> = { next: new Map() }
  let count = 0
  let other: C | undefined
  const add = (values: Values<L>): C => {
    if (count >= MAX_SERIES) return (other ??= resolve(labels.map(() => OTHER)))
    count += 1
    let branch = root
    for (const label of labels) {
      const next = branch.next.get(values[label]) ?? { next: new Map() }
      branch.next.set(values[label], next)
      branch = next
    }
    branch.child = resolve(labels.map((label) => (PLAIN.test(values[label]) ? values[label] : OTHER)))
    return branch.child
  }
  return (values) => {
    let branch: Branch<C> | undefined = root
    for (const label of labels) branch = branch?.next.get(values[label])
    return branch?.child ?? add(values)
  }
}
