import t from 'tap'
import { SaxesParser } from 'saxes'
import { chartOf } from '../../bench/report/chart.ts'

const COLUMN = { key: 'p99', title: 'p99', unit: 'ms' } as const
const rowOf = (server: string, values: readonly number[], foreign = 0) => ({
  case: 'read <fast> & "safe"',
  server,
  samples: values.map((p99) => ({ values: { p99 }, foreign })),
})
const PART = { title: 'Latencies', columns: [COLUMN], compared: 'p99' }

/** Returns the attributes of the elements of a name. @throws Error if the image is not well-formed */
function elementsOf(svg: string, name: string): readonly Readonly<Record<string, string>>[] {
  const found: Readonly<Record<string, string>>[] = []
  const parser = new SaxesParser()
  parser.on('opentag', (tag) => {
    if (tag.name === name) found.push(tag.attributes)
  })
  parser.on('error', (error) => {
    throw error
  })
  parser.write(svg).close()
  return found
}

t.test(
  'a chart has a bar of the median for each server, and a line for the range that ends at the border',
  (t) => {
    const rows = [rowOf('engine-gateway', [10, 20, 40]), rowOf('nginx', [5], 0.5)]
    const svg = chartOf(PART, rows) ?? ''
    const bars = elementsOf(svg, 'rect')
    t.same(
      bars.map((bar) => [bar['class'], Number(bar['width'])]),
      [
        ['own', 293.3],
        ['peer noisy', 73.3],
      ],
    )
    const [range] = elementsOf(svg, 'line')
    t.same([range?.['x1'], range?.['x2']], ['356.7', '650'])
    t.match(svg, 'read &lt;fast&gt; &amp; &quot;safe&quot;')
    t.match(svg, '>20 ms</text>')
    t.end()
  },
)

t.test('a chart has colors for light and dark', (t) => {
  const svg = chartOf(PART, [rowOf('engine-gateway', [1])]) ?? ''
  const [light = '', dark = ''] = svg.split('prefers-color-scheme: dark')
  for (const name of ['text', '.own', '.peer', '.range']) {
    t.match(light, `  ${name} {`)
    t.match(dark, `    ${name} {`)
  }
  t.end()
})

t.test('a part without a compared column, or without values, has no chart', (t) => {
  t.equal(chartOf({ title: 'Steps', columns: [COLUMN] }, [rowOf('engine-gateway', [1])]), null)
  t.equal(chartOf(PART, []), null)
  t.end()
})
