import { NOISY_SHARE } from '../foreign-cpu.ts'
import { type Column, OWN, type Part, type Row, type Unit } from '../part.ts'

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - ((sorted.length + 1) % 2)], sorted[middle]]
  return (low + high) / 2
}

/** Returns the values of a column, one for each round that has one. */
export function valuesOf({ samples }: Row, key: string): readonly number[] {
  return samples.flatMap(({ values }) => values[key] ?? [])
}

/** Returns a number with about three significant digits, with commas for thousands. */
export function numberText(value: number): string {
  if (value === 0) return '0'
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toLocaleString('en-US', { maximumFractionDigits: Math.min(digits, 3) })
}

/** Returns a value with its unit: 18,200 bytes are `18.2 kB`. */
export function valueText(value: number, unit: Unit): string {
  if (unit === 'bytes') {
    const [divisor, name] =
      Math.abs(value) >= 1e6 ? [1e6, 'MB'] : Math.abs(value) >= 1e3 ? [1e3, 'kB'] : [1, 'B']
    return `${numberText(value / divisor)} ${name}`
  }
  return unit === 'number' || unit === 'per second' ? numberText(value) : `${numberText(value)} ${unit}`
}

/** Returns the median, with the smallest and the largest value if there are several rounds. */
function cellText(values: readonly number[], unit: Unit): string {
  if (values.length === 0) return '–'
  const text = valueText(median(values), unit)
  if (values.length === 1) return text
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return low === high ? text : `${text} (${valueText(low, unit)} – ${valueText(high, unit)})`
}

/** Returns the values of a server divided by those of the gateway in the same round, or none if it is the gateway. */
export function ratiosOf(row: Row, rows: readonly Row[], key: string): readonly number[] {
  const own = rows.find((one) => one.case === row.case && one.server === OWN)
  if (own === undefined || own === row) return []
  return row.samples.flatMap(({ values }, round) => {
    const [theirs, ours] = [values[key], own.samples[round]?.values[key]]
    return theirs === undefined || ours === undefined || ours === 0 ? [] : [theirs / ours]
  })
}

export function foreignOf({ samples }: Row): number {
  return median(samples.map(({ foreign }) => foreign))
}

export function isNoisy(row: Row): boolean {
  return foreignOf(row) > NOISY_SHARE
}

/** Returns the rows as a table in Markdown. */
export function rowsText(part: Pick<Part, 'columns' | 'compared'>, rows: readonly Row[]): string {
  const columns = part.columns.filter(({ key }) => rows.some((row) => valuesOf(row, key).length > 0))
  const compared = columns.find(({ key }) => key === part.compared)
  const withServers = new Set(rows.map(({ server }) => server)).size > 1
  const hasRatios = compared !== undefined && rows.some((row) => ratiosOf(row, rows, compared.key).length > 0)
  const heads = [
    'case',
    ...(withServers ? ['server'] : []),
    ...columns.map(({ title }) => title),
    ...(hasRatios ? ['this ÷ gateway'] : []),
    'foreign CPU',
  ]
  const lines = rows.map((row) => [
    row.case,
    ...(withServers ? [row.server] : []),
    ...columns.map((column) => cellOf(row, column)),
    ...(hasRatios ? [cellText(ratiosOf(row, rows, compared.key), 'number')] : []),
    foreignText(row),
  ])
  return tableText(heads, lines)
}

/** Returns a table in Markdown. */
export function tableText(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function cellOf(row: Row, { key, unit }: Column): string {
  return cellText(valuesOf(row, key), unit)
}

export function foreignText(row: Row): string {
  const text = `${Math.round(foreignOf(row) * 100)} %`
  return isNoisy(row) ? `**${text}, noisy**` : text
}
