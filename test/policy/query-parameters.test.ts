import t from 'tap'
import { queryOf } from '../../src/policy/canonical.ts'

t.test('the parameters of a query are those that the engine reads', async (t) => {
  for (const [query, pairs] of [
    ['?a=1&a=2', [['a', '1']]],
    [
      '?a&b=&=c',
      [
        ['a', ''],
        ['b', ''],
        ['', 'c'],
      ],
    ],
    ['?a=b+c%2Bd%20e', [['a', 'b c+d e']]],
    ['?%61=%C3%A4', [['a', 'ä']]],
    ['?a;b=c;d', [['a;b', 'c;d']]],
    [
      '??a=b&c=d',
      [
        ['?a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['???a=b', [['??a', 'b']]],
    ['?', []],
    ['', []],
  ] as const)
    t.same([...queryOf(`/task${query}`)], pairs, query)
})
