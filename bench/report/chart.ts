import { OWN, type Part, type Row } from '../part.ts'
import { isNoisy, median, valuesOf, valueText } from './table.ts'

// Draws horizontal bars, grouped by case: the median as a bar, and the range of all rounds as a line. The colors follow the color scheme
// of the reader.

const WIDTH = 760
const NAME_WIDTH = 210
const VALUE_WIDTH = 110
const BAR_HEIGHT = 16
const ROW_HEIGHT = 22
const CASE_HEIGHT = 26
const TOP = 40
/** The length of the axis, divided by the longest bar, is at most this. */
const MAX_RANGE = 1.5

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .case { font-weight: 600 }
  .own { fill: #0969da }
  .peer { fill: #8c959f }
  .noisy { opacity: 0.5 }
  .range { stroke: #1f2328; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .own { fill: #4493f8 }
    .peer { fill: #6e7681 }
    .range { stroke: #e6edf3 }
  }`

/** Returns an SVG image of the compared column. Returns null if the part compares nothing. */
export function chartOf(
  part: Pick<Part, 'title' | 'columns' | 'compared'>,
  rows: readonly Row[],
): string | null {
  const column = part.columns.find(({ key }) => key === part.compared)
  const drawn = rows.filter((row) => column !== undefined && valuesOf(row, column.key).length > 0)
  if (column === undefined || drawn.length === 0) return null
  const all = drawn.map((row) => valuesOf(row, column.key))
  // One round that was much slower must not make all bars short. Its line ends at the border.
  const largest = Math.min(Math.max(...all.flat()), MAX_RANGE * Math.max(...all.map(median)))
  const lengthOf = (value: number): number =>
    round(largest === 0 ? 0 : Math.min(1, value / largest) * (WIDTH - NAME_WIDTH - VALUE_WIDTH))
  const shapes: string[] = []
  let y = TOP
  for (const [name, group] of Map.groupBy(drawn, (row) => row.case)) {
    shapes.push(`<text class="case" x="8" y="${y + 14}">${escapeText(name)}</text>`)
    y += CASE_HEIGHT
    for (const row of group) {
      const values = valuesOf(row, column.key)
      const value = median(values)
      const [low, high] = [Math.min(...values), Math.max(...values)].map((one) => NAME_WIDTH + lengthOf(one))
      const middle = y + BAR_HEIGHT / 2
      const kind = `${row.server.startsWith(OWN) ? 'own' : 'peer'}${isNoisy(row) ? ' noisy' : ''}`
      shapes.push(
        `<text x="16" y="${y + 13}">${escapeText(row.server)}</text>`,
        `<rect class="${kind}" x="${NAME_WIDTH}" y="${y}" width="${lengthOf(value)}" height="${BAR_HEIGHT}" rx="2"/>`,
        `<line class="range" x1="${low}" y1="${middle}" x2="${high}" y2="${middle}"/>`,
        `<text x="${(high ?? 0) + 6}" y="${y + 13}">${escapeText(valueText(value, column.unit))}</text>`,
      )
      y += ROW_HEIGHT
    }
  }
  const title = escapeText(`${part.title}: ${column.title}`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 8}" width="${WIDTH}" height="${y + 8}" role="img" aria-label="${title}">`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="8" y="22">${title}</text>`,
    ...shapes,
    '</svg>\n',
  ].join('\n')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escapeText(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
