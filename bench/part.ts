import { foreignShare, readCpuTimes } from './foreign-cpu.ts'

/** The unit of a column. `bytes` and `ms` are printed with a unit that fits the value. */
export type Unit = 'µs' | 'ms' | 's' | 'ns' | 'bytes' | 'per second' | 'number'

export interface Column {
  /** The key of the value in a sample. */
  readonly key: string
  readonly title: string
  readonly unit: Unit
}

/** The values of one round. A value that was not measured is absent. */
export type Values = Readonly<Record<string, number>>

export interface Sample {
  readonly values: Values
  /** The CPU time of other processes during the round, as a share of all cores. */
  readonly foreign: number
}

/** The rounds of one server in one case. */
export interface Row {
  readonly case: string
  readonly server: string
  readonly samples: readonly Sample[]
}

export interface Plan {
  readonly isQuick: boolean
  readonly rounds: number
  /** The duration of a round. */
  readonly seconds: number
  /** The compiler is at work during this time. A request in the first seconds costs twice as much as a later one. */
  readonly warmUpSeconds: number
  /** The measured checkouts. The last one is this checkout. */
  readonly gateways: readonly Checkout[]
  /** A folder for files, which is deleted after the part. */
  readonly directory: string
  /** The part's own options, with their defaults. */
  readonly options: Readonly<Record<string, string>>
  readonly log: (line: string) => void
}

export interface Checkout {
  readonly name: string
  readonly path: string
}

/** The name of this checkout's gateway in rows. Other servers are compared with it. */
export const OWN = 'engine-gateway'

/** A measurement. */
export interface Part {
  readonly name: string
  readonly title: string
  /** Says what the part measures, and how. It is a paragraph of the page. */
  readonly measures: string
  readonly columns: readonly Column[]
  /** The column by which servers are compared, in the table and in the chart. */
  readonly compared?: string
  /** Programs without which the part is skipped. */
  readonly needs?: readonly string[]
  /** Whether the part runs only if it is named. */
  readonly isExtra?: boolean
  /** Whether `--quick` leaves it out, unless it is named. */
  readonly isLeftOutOfQuick?: boolean
  /** The part's own options, by name, with their defaults. */
  readonly options?: Readonly<Record<string, string>>
  readonly run: (plan: Plan) => Promise<readonly Row[]>
}

export interface Trial {
  readonly case: string
  readonly server: string
  /** Runs before each round, and is not measured. */
  readonly prepare?: () => Promise<unknown>
  readonly measure: () => Promise<Values>
}

/**
 * Runs the trials in rounds, and returns a row for each trial. The order of the trials changes with each round: the first server of a
 * fixed order was 7 % slower than the second, with the same code.
 */
export async function interleave(trials: readonly Trial[], rounds: number): Promise<readonly Row[]> {
  const samples = trials.map((): Sample[] => [])
  for (let round = 0; round < rounds; round += 1) {
    const order = [...trials.entries()]
    for (const [index, { prepare, measure }] of round % 2 === 0 ? order : order.toReversed()) {
      await prepare?.()
      samples[index]?.push(await sampleOf(measure))
    }
  }
  return trials.map(({ case: name, server }, index) => ({
    case: name,
    server,
    samples: samples[index] ?? [],
  }))
}

/** Runs a measurement, and adds the share of foreign CPU time. */
export async function sampleOf(measure: () => Promise<Values>): Promise<Sample> {
  const before = readCpuTimes()
  const values = await measure()
  return { values, foreign: foreignShare(before, readCpuTimes()) }
}

/** Combines the rows of several starts of the same servers. */
export function mergeRows(runs: readonly (readonly Row[])[]): readonly Row[] {
  const merged = new Map<string, Row>()
  for (const row of runs.flat()) {
    const key = JSON.stringify([row.case, row.server])
    const former = merged.get(key)?.samples ?? []
    merged.set(key, { ...row, samples: [...former, ...row.samples] })
  }
  return [...merged.values()]
}
