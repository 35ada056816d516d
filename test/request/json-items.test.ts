import t from 'tap'
import { joinItems, itemBatches } from '../../src/request/json-items.ts'

function read(json: string, size = 2) {
  const bytes = Buffer.from(json)
  return [...itemBatches(bytes, size)].map((batch) =>
    batch.map(({ item: row, start, end }) => ({ row, text: bytes.toString('utf8', start, end).trim() })),
  )
}

t.test('items are parsed in batches, and their bytes are unchanged', async (t) => {
  const texts = ['{"id":"a","n":1.00}', '{"id":"b","of":[{"c":"],}\\""}]}', '{"id":"ä€"}', '{}']
  const batches = read(` [ ${texts.join(' , ')} ] \n`, 3)
  t.same(
    batches.map(({ length }) => length),
    [3, 1],
  )
  t.same(
    batches.flat().map(({ text }) => text),
    texts,
  )
  t.same(
    batches.flat().map(({ row }) => row),
    texts.map((text) => JSON.parse(text)),
  )
  t.same(joinItems(texts.map((text) => Buffer.from(text))), Buffer.from(`[${texts.join(',')}]`))
})

t.test('an empty list has no items', async (t) => {
  t.same(read('[]'), [])
  t.same(read(' [ \n] '), [])
})

t.test('a text that is not a list of objects, or not JSON, is rejected', async (t) => {
  const texts = [
    '',
    'null',
    '{}',
    '{"rows":[]}',
    '"[]"',
    '[1]',
    '[null]',
    '["a"]',
    '[',
    '[{}',
    '[{},',
    '[{}}',
    '[{}]]',
  ].concat([
    '[{},]',
    '[,{}]',
    '[{}{}]',
    '[{}] x',
    'x[{}]',
    '[{"a":1,}]',
    '[{"a"}]',
    '[{"a":"b}]',
    '[,]',
    '[{}],[]',
    '\u000b[{}]',
    '[\f]',
    '[{}]\u00a0',
  ])
  for (const text of texts) for (const size of [1, 2]) t.throws(() => read(text, size), SyntaxError, text)
})
