import t from 'tap'
import { rewriteLinks } from '../../../src/proxy/wire/links.ts'

const FROM = 'http://gateway/engine-rest'
const rewrite = (text: string, to = 'http://gateway/rest/engine/orders'): string =>
  rewriteLinks(Buffer.from(text), FROM, to).toString()

const CASES: [string, string, string][] = [
  [
    'a link',
    '{"href":"http://gateway/engine-rest/task/x"}',
    '{"href":"http://gateway/rest/engine/orders/task/x"}',
  ],
  [
    'the base itself',
    '{"href":"http://gateway/engine-rest"}',
    '{"href":"http://gateway/rest/engine/orders"}',
  ],
  ['a query', '{"href":"http://gateway/engine-rest?a"}', '{"href":"http://gateway/rest/engine/orders?a"}'],
  ['a longer name', '{"href":"http://gateway/engine-rest2/x"}', '{"href":"http://gateway/engine-rest2/x"}'],
  ['another member', '{"name":"http://gateway/engine-rest/x"}', '{"name":"http://gateway/engine-rest/x"}'],
  [
    'text that looks like a link',
    String.raw`{"a":"{\"href\":\"http://gateway/engine-rest/x\"}"}`,
    String.raw`{"a":"{\"href\":\"http://gateway/engine-rest/x\"}"}`,
  ],
  [
    'a number',
    '{"a":12345678901234567890,"href":"http://gateway/engine-rest/"}',
    '{"a":12345678901234567890,"href":"http://gateway/rest/engine/orders/"}',
  ],
  ['a cut link', '{"href":"http://gateway/engine-rest', '{"href":"http://gateway/engine-rest'],
  ['nothing', '', ''],
]
for (const [what, before, after] of CASES) {
  t.test(`a body with ${what} is ${before === after ? 'left alone' : 'rewritten'}`, (t) => {
    t.equal(rewrite(before), after)
    t.end()
  })
}

function links(base: string): string {
  const link = (_: unknown, i: number) =>
    `{"links":[{"method":"GET","href":"${base}/task/${i}é","rel":"self"}]}`
  return `[${Array.from({ length: 50 }, link).join()}]`
}

t.test('all links of a body are rewritten, and nothing else', (t) => {
  t.equal(rewrite(links(FROM)), links('http://gateway/rest/engine/orders'))
  t.equal(rewrite(links(FROM), ''), links(''))
  t.end()
})

t.test('the path after a base that ends with a slash is kept', (t) => {
  const body = Buffer.from('{"href":"http://gateway/rest/task/x"}')
  t.equal(rewriteLinks(body, 'http://gateway/rest/', '/').toString(), '{"href":"/task/x"}')
  t.end()
})

t.test('bytes that are not valid text are kept', (t) => {
  const body = Buffer.from([0xff, 0xfe, ...Buffer.from('"href":"http://gateway/engine-rest/'), 0x80])
  const after = rewriteLinks(body, FROM, 'x')
  t.same(after, Buffer.from([0xff, 0xfe, ...Buffer.from('"href":"x/'), 0x80]))
  t.end()
})

t.test('a body without links is returned as the same buffer', (t) => {
  const body = Buffer.from('{"a":1}')
  t.equal(rewriteLinks(body, FROM, 'x'), body)
  t.equal(rewriteLinks(body, '', 'x'), body)
  t.end()
})
