import t from 'tap'
import { type Row, interleave, mergeRows } from '../../bench/part.ts'
import { numberText, rowsText, valueText } from '../../bench/report/table.ts'

const COLUMNS = [
  { key: 'cpuMicros', title: 'CPU time', unit: 'µs' },
  { key: 'bytes', title: 'memory', unit: 'bytes' },
] as const
const rowOf = (server: string, micros: readonly number[], foreign = 0.01): Row => ({
  case: 'read',
  server,
  samples: micros.map((cpuMicros) => ({ values: { cpuMicros }, foreign })),
})

t.test('numbers have about three digits, and bytes a unit that fits', (t) => {
  t.same([0, 0.01234, 1.234, 12.34, 1234.5].map(numberText), ['0', '0.012', '1.23', '12.3', '1,235'])
  t.same(
    [12, 18_240, 3_130_000].map((bytes) => valueText(bytes, 'bytes')),
    ['12 B', '18.2 kB', '3.13 MB'],
  )
  t.equal(valueText(4.25, 'ms'), '4.25 ms')
  t.end()
})

t.test('a table has medians with ranges, ratios within each round, and marks noisy rows', (t) => {
  const rows = [rowOf('engine-gateway', [50, 60, 100]), rowOf('nginx', [10, 30, 10], 0.12)]
  t.same(rowsText({ columns: COLUMNS, compared: 'cpuMicros' }, rows).split('\n'), [
    '| case | server | CPU time | this ÷ gateway | foreign CPU |',
    '| --- | --- | --- | --- | --- |',
    '| read | engine-gateway | 60 µs (50 µs – 100 µs) | – | 1 % |',
    '| read | nginx | 10 µs (10 µs – 30 µs) | 0.2 (0.1 – 0.5) | **12 %, noisy** |',
  ])
  t.end()
})

t.test('a table of one server has no column for servers, and one for each value that was measured', (t) => {
  const rows = [
    { case: 'start', server: 'engine-gateway', samples: [{ values: { bytes: 2e6 }, foreign: 0 }] },
  ]
  t.same(rowsText({ columns: COLUMNS }, rows).split('\n'), [
    '| case | memory | foreign CPU |',
    '| --- | --- | --- |',
    '| start | 2 MB | 0 % |',
  ])
  t.end()
})

t.test('rounds alternate between the servers, in both orders', async (t) => {
  const calls: string[] = []
  const trialOf = (server: string) => ({
    case: 'read',
    server,
    measure: async () => {
      calls.push(server)
      return { value: calls.filter((call) => call === 'a' || call === 'b').length }
    },
  })
  const prepare = async () => calls.push('prepares b')
  const rows = await interleave([trialOf('a'), { ...trialOf('b'), prepare }], 2)
  t.same(calls, ['a', 'prepares b', 'b', 'prepares b', 'b', 'a'])
  t.same(
    rows.map(({ samples }) => samples.map(({ values }) => values['value'])),
    [
      [1, 4],
      [2, 3],
    ],
  )
})

t.test('the rounds of several starts are combined by case and server', (t) => {
  const merged = mergeRows([
    [rowOf('a', [1]), rowOf('b', [2])],
    [rowOf('b', [3]), rowOf('a', [4])],
  ])
  t.same(
    merged.map(({ server, samples }) => [server, ...samples.map(({ values }) => values['cpuMicros'])]),
    [
      ['a', 1, 4],
      ['b', 2, 3],
    ],
  )
  t.end()
})
