import t from 'tap'
import { idempotencyKeyOf } from '../../src/idempotency/idempotency-key.ts'

const keyOf = (...values: readonly string[]) =>
  idempotencyKeyOf(['Host', 'gateway', ...values.flatMap((value) => ['Idempotency-Key', value])])

t.test('a quoted key equals the same key without quotes', (t) => {
  for (const [value, key] of [
    ['a', 'a'],
    ['"a"', 'a'],
    [String.raw`"a\"b\\c"`, String.raw`a"b\c`],
    ['!#$%&~', '!#$%&~'],
    ['a"b', undefined],
    ['"a,b"', 'a,b'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ] as const)
    if (key !== undefined) t.equal(keyOf(value), key)
    else t.throws(() => keyOf(value), { code: 'GW_BAD_HEADER' })
  t.end()
})

t.test('an ambiguous key is refused', (t) => {
  const wrong = [
    '',
    'a,b',
    'a b',
    '"a',
    'a"',
    '""',
    '"a"b',
    String.raw`"a\b"`,
    'ä',
    'a\u007f',
    'x'.repeat(256),
  ]
  for (const value of wrong) t.throws(() => keyOf(value), { code: 'GW_BAD_HEADER', statusCode: 400 }, value)
  t.throws(() => keyOf(), { code: 'GW_BAD_HEADER' }, 'none')
  t.throws(() => keyOf('a', 'a'), { code: 'GW_BAD_HEADER' }, 'two')
  t.end()
})
