import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  BENCHMARK_PAGE,
  benchmarkPage,
  CAPACITY_PAGE,
  capacityPage,
  chartsOf,
  imagePath,
  replaceSection,
} from '../../bench/report/pages.ts'
import { type Capacity, capacityOf, type Slopes, slopesOf } from '../../bench/report/capacity.ts'
import { readResults } from '../../bench/report/results.ts'
import { PARTS } from '../../bench/parts.ts'

const results = readResults() ?? { machine: [], parts: {} }

t.test('docs/benchmark.md and its images equal the output for the stored results', (t) => {
  t.equal(readFileSync(BENCHMARK_PAGE, 'utf8'), benchmarkPage(results))
  const charts = chartsOf(results)
  t.ok(charts.size > 0)
  for (const [name, chart] of charts) t.equal(readFileSync(imagePath(name), 'utf8'), chart, name)
  t.end()
})

t.test('docs/capacity.md contains the sections that are calculated from the stored results', (t) => {
  t.not(slopesOf(results), null)
  const page = readFileSync(CAPACITY_PAGE, 'utf8')
  t.equal(capacityPage(page, results), page)
  t.end()
})

t.test('every usual part has a result on the page', (t) => {
  const usual = PARTS.filter((part) => part.isExtra !== true).map(({ name }) => name)
  t.same(
    usual.filter((name) => results.parts[name] === undefined),
    [],
  )
  t.end()
})

t.test('a section is replaced between its comments, and only there', (t) => {
  const page = 'a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\nz\n<!-- end -->\n'
  const once = replaceSection(page, 'x', 'new')
  t.equal(once, page.replace('old\n', '\nnew\n\n'))
  t.equal(replaceSection(once, 'x', 'new'), once)
  t.throws(() => replaceSection(page, 'w', ''), /no section w/)
  t.end()
})

t.test('the capacity follows from the slopes', (t) => {
  const slopes: Slopes = {
    cpuMicros: { read: 100, query: 100, list: 100, write: 100, cached: 100 },
    readAtLowRate: 200,
    base: 60e6,
    records: 3e6,
    engine: 1e6,
    connection: 10_000,
    poll: 20_000,
    redis: { read: {}, rate: {}, key: {}, filled: {}, memory: {}, redis: {}, evict: {}, idle: {} },
  }
  const cases: readonly (readonly [string, Parameters<typeof capacityOf>[1], Capacity])[] = [
    [
      'a small load: two replicas, and the smallest container',
      { perSecond: 100, engines: 1, records: 0, polls: 0 },
      {
        cores: 0.02,
        replicas: 2,
        inUse: 60e6 + 1e6 + 200 * 10_000,
        container: 512 * 1024 ** 2,
      },
    ],
    [
      // 6,000 requests at 200 µs are 1.2 cores: two processes at 60 %, and a spare one. Each of the two holds half of the polls.
      'a large load: more replicas, and memory for each of them',
      { perSecond: 6_000, engines: 10, records: 100_000, polls: 10_000 },
      {
        cores: 1.2,
        replicas: 3,
        inUse: 60e6 + 30e6 + 10e6 + 2e6 + 100e6,
        container: 1024 * 1024 ** 2,
      },
    ],
  ]
  for (const [name, load, expected] of cases) t.same(capacityOf(slopes, load), expected, name)
  t.end()
})
