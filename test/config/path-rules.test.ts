import t from 'tap'
import { parsePathRule, pathRules } from '../../src/config/path-rules.ts'

t.test('a rule has a method, segments, and an open end', (t) => {
  for (const [text, method, segments, isOpenEnded] of [
    ['/', null, [], false],
    ['/**', null, [], true],
    ['/a/{b}/c', null, ['a', null, 'c'], false],
    ['POST /a.b/**', 'POST', ['a.b'], true],
  ] as const) {
    t.ok(pathRules.safeParse([text]).success, text)
    t.same(parsePathRule(text), { method, segments, isOpenEnded }, text)
  }
  t.end()
})

t.test('a rule that could be read in two ways is refused', (t) => {
  for (const text of [
    '',
    'a',
    '/a/',
    '//',
    '/a//b',
    '/**/a',
    '/*',
    '/a*',
    '/%61',
    '/a;b',
    'HEAD /a',
    'post /a',
    '/a?b',
    '/{a b}',
  ])
    t.notOk(pathRules.safeParse([text]).success, text)
  t.end()
})
