import t from 'tap'
import { isNotModified } from '../../src/cache/conditional.ts'

const cases: readonly (readonly [ifNoneMatch: string | undefined, notModified: boolean])[] = [
  [undefined, false],
  ['', false],
  ['"abc"', true],
  ['W/"abc"', true],
  ['*', true],
  ['"x", "abc"', true],
  ['"a,b","abc"', true],
  ['"x"', false],
  ['abc', false],
  ['"abcd"', false],
  ['"*"', false],
]

for (const [ifNoneMatch, notModified] of cases) {
  t.test(
    `If-None-Match: ${ifNoneMatch ?? '(none)'} is ${notModified ? 'a match' : 'no match'} for "abc"`,
    async (t) => {
      t.equal(isNotModified(ifNoneMatch, '"abc"'), notModified)
    },
  )
}

t.test('a weak etag of the engine matches too', async (t) => {
  t.ok(isNotModified('"abc"', 'W/"abc"'))
})
