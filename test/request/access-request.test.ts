import t from 'tap'
import { listOf, bodyFlag, bodyTexts, bodyText } from '../../src/request/body.ts'
import { readJson } from '../../src/request/json.ts'

const read = (text: string): unknown => readJson(Buffer.from(text))

t.test('a number instead of a text is read with its original digits', async (t) => {
  for (const digits of ['5', '-5', '1.0', '1e3', '1E3', '-0', '0.10', '12345678901234567890', '1e400'])
    for (const text of [`{"a":${digits}}`, `{ "a" : ${digits} }`])
      t.equal(bodyText(read(text), 'a'), digits, text)
  t.equal(bodyText(read('{"a":{"b":1.0},"b":2.0}'), 'a.b'), '1.0')
  t.equal(bodyText(read('{"a":true}'), 'a'), 'true')
  for (const none of ['{}', '{"a":null}', '{"a":{}}', '{"a":[1]}', '[]', '5', '"a"'])
    t.equal(bodyText(read(none), 'a'), null, none)
})

t.test('numbers in a list are read with their original digits', async (t) => {
  t.same(bodyTexts(read('{"a":["x",49,1.0,true,null,{},["y"]]}'), 'a'), ['x', '49', '1.0', 'true'])
  for (const none of ['{}', '{"a":"x"}', '{"a":{"0":"x"}}', 'true'])
    t.same(bodyTexts(read(none), 'a'), [], none)
})

t.test('a flag is true in every form that the engine accepts', async (t) => {
  for (const yes of ['true', '"true"', '"TRUE"', '"True"', '" true "', '1', '-5'])
    t.equal(bodyFlag(read(`{"a":${yes}}`), 'a'), true, yes)
  for (const no of ['false', '"false"', '""', '0', 'null', '"yes"', '{}'])
    t.equal(bodyFlag(read(`{"a":${no}}`), 'a'), false, no)
})

t.test('empty members at the end of a list in a query string are ignored', async (t) => {
  const cases = { 'a,b': ['a', 'b'], a: ['a'], '': [''], ',': [], ',,': [], 'a,,': ['a'], ',a': ['', 'a'] }
  const asked = { principal: { userId: 'a', groups: [], tenants: [] }, params: {}, body: {} }
  const listed = (query: ReadonlyMap<string, string>) =>
    listOf({ ...asked, query }, 'query', 'in').map(({ id }) => id)
  t.same(listed(new Map()), [])
  for (const [text, list] of Object.entries(cases))
    t.same(listed(new Map([['in', text]])), list, JSON.stringify(text))
})
