import t from 'tap'
import { conditionsOf } from '../../../../src/policy/authz/entities/correlation-keys.ts'
import { createDateFormat } from '../../../../src/request/date-format.ts'
import { readJson } from '../../../../src/request/json.ts'

/** Returns the conditions for a key of a request body, with the numbers as they are sent. */
function expressed(key: string, pattern?: string) {
  const keys = readJson(Buffer.from(`{"k_1": ${key}}`))
  const { conditions, isExact } = conditionsOf(keys, createDateFormat(pattern))
  return { sent: JSON.stringify(conditions), isExact }
}

const conditionOn = (value: string): string => `[{"name":"k_1","operator":"eq","value":${value}}]`

for (const key of [
  '"x"',
  '"4711"',
  '"a_b"',
  '"a,b"',
  '"a\\"b"',
  '"a\\\\"',
  '"DOMAIN\\\\user"',
  '"nulls"',
  '"NULL"',
  '"2026-11-22"',
  '"2026-11-22T20:00:00"',
  'true',
  'false',
  'null',
])
  t.test(`a query expresses the key ${key} exactly`, async (t) => {
    t.same(expressed(`{"value":${key}}`), { sent: conditionOn(key), isExact: true })
  })

for (const [key, value] of [
  ['{}', 'null'],
  ['{"value":null,"type":null}', 'null'],
  ['{"value":"x","type":"String"}', '"x"'],
  ['{"value":"x","type":"string"}', '"x"'],
  ['{"value":true,"type":"Boolean"}', 'true'],
  ['{"value":"2026-11-22T20:00:00.000+0000","type":"Date"}', '"2026-11-22T20:00:00.000+0000"'],
] as const)
  t.test(`a query expresses the typed key ${key} exactly`, async (t) => {
    t.same(expressed(key), { sent: conditionOn(value), isExact: true })
  })

for (const [key, value] of [
  ['{"value":4711}', '4711'],
  ['{"value":4711,"type":"Integer"}', '4711'],
  ['{"value":4711,"type":"long"}', '4711'],
  ['{"value":4711,"type":"Short"}', '4711'],
  ['{"value":4711.0,"type":"Double"}', '4711.0'],
  ['{"value":1e3}', '1e3'],
  ['{"value":9007199254740993}', '9007199254740993'],
] as const)
  t.test(`a query with the number of ${key} selects variables of all number types`, async (t) => {
    t.same(expressed(key), { sent: conditionOn(value), isExact: false })
  })

for (const key of [
  '{"value":""}',
  '{"value":" "}',
  '{"value":"null"}',
  '{"value":"\\"x"}',
  '{"value":"null\\"x"}',
  '{"value":"2026-11-22T20:00:00.000+0000"}',
  '{"value":"2026-11-22T20:00:00.000+0000\\"x"}',
  '{"value":"\\\\u0032026-11-22T20:00:00.000+0000"}',
  '{"value":"2026\\\\u002d11\\\\u002d22T20:00:00.000+0000"}',
  '{"value":"null","type":"Date"}',
  '{"value":"","type":"Date"}',
  '{"value":5,"type":"Date"}',
  '{"value":"5","type":"Integer"}',
  '{"value":5,"type":"String"}',
  '{"value":5,"type":"Strings"}',
  '{"value":"x","type":"STRING"}',
  '{"value":"true","type":"Boolean"}',
  '{"value":null,"type":"String"}',
  '{"value":null,"type":"Null"}',
  '{"value":{}}',
  '{"value":[]}',
  '{"value":"x","type":5}',
  'null',
  '"x"',
  '[]',
])
  t.test(`the key ${key} is left out of a query`, async (t) => {
    t.same(expressed(key), { sent: '[]', isExact: false })
  })

for (const [pattern, text, isDate] of [
  ['dd.MM.yyyy HH:mm:ss', '01.02.2026 03:04:05', true],
  ['dd.MM.yyyy HH:mm:ss', '2026-11-22T20:00:00.000+0000', false],
  ["yyyy-MM-dd'T'HH:mm:ssXXX", '2026-11-22T20:00:00Z', true],
  ["h 'o''clock'", "3 o'clock", true],
  ["h 'o''clock'", '3 o', false],
  ['yyyyMMdd', '4711', true],
  ['EEE, d MMM yyyy', 'Mon, 2 Feb 2026', true],
  ['EEE, d MMM yyyy', 'Mon 2 Feb 2026', false],
] as const)
  t.test(
    `an engine with the date format ${pattern} ${isDate ? 'may read' : 'reads'} ${text} as a ${isDate ? 'date' : 'text'}`,
    async (t) => {
      t.equal(expressed(`{"value":"${text}"}`, pattern).isExact, !isDate)
    },
  )

t.test('keys that a query cannot express do not hide others', async (t) => {
  const keys = { a: { value: 'x' }, b: { value: '' }, c: { value: true } }
  const { conditions, isExact } = conditionsOf(keys, createDateFormat())
  t.same(
    conditions.map(({ name }) => name),
    ['a', 'c'],
  )
  t.equal(isExact, false)
})

function keysOf(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, { value: 'x' }]))
}

t.test('a query has at most fifty conditions for keys', async (t) => {
  t.match(conditionsOf(keysOf(50), createDateFormat()), { conditions: { length: 50 }, isExact: true })
  t.match(conditionsOf(keysOf(51), createDateFormat()), { conditions: { length: 50 }, isExact: false })
})

for (const keys of [undefined, null, {}])
  t.test(`the keys ${JSON.stringify(keys)} produce no conditions`, async (t) => {
    t.same(conditionsOf(keys, createDateFormat()), { conditions: [], isExact: true })
  })
