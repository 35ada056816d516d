import t from 'tap'
import { appendTo } from '../../src/policy/narrow.ts'

t.test('an element is added to a list, or makes one', async (t) => {
  for (const [body, expected] of [
    ['{"a":1.0}', { a: 1, list: ['x'] }],
    ['{"list":null}', { list: ['x'] }],
    ['{"list":["b"]}', { list: ['b', 'x'] }],
    [null, { list: ['x'] }],
  ] as const)
    t.same(JSON.parse(appendTo(body === null ? null : Buffer.from(body), 'list', 'x').toString()), expected)
})

t.test(
  'what is no list is refused: put in its place, the element would hide what the engine refuses',
  async (t) => {
    for (const list of ['"x"', '5', '{}', 'true'])
      t.throws(() => appendTo(Buffer.from(`{"list":${list}}`), 'list', 'x'), {
        code: 'GW_INVALID_BODY',
        statusCode: 400,
      })
  },
)
