import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { readJson } from '../../src/request/json.ts'
import { cpuMs } from '../support/cpu-time.ts'

const read = (text: string | Buffer) => readJson(Buffer.from(text))
const refused = { code: 'GW_BAD_JSON', statusCode: 400 }

t.test('JSON that every parser reads in the same way is accepted', async (t) => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['{}', {}],
    [' {"a":[1,{"a":2}],"b":{"a":3}}\r\n', { a: [1, { a: 2 }], b: { a: 3 } }],
    ['\ufeff{"a":1}', { a: 1 }],
    ['{"a":"\\ud800"}', { a: '\ud800' }],
    ['[[],{}]', [[], {}]],
    ['"text"', 'text'],
    ['{"constructor":{"prototype":1}}', { constructor: { prototype: 1 } }],
    [`${'['.repeat(1000)}${']'.repeat(1000)}`, undefined],
    [`{"${'k'.repeat(50_000)}":1}`, undefined],
    [`[${'1'.repeat(1000)},-0.${'1'.repeat(999)}]`, undefined],
  ]
  for (const [text, value] of cases)
    if (value === undefined) t.doesNotThrow(() => read(text), text.slice(0, 40))
    else t.ok(isDeepStrictEqual(read(text), value), text)
})

t.test('spaces in JSON do not change its value', async (t) => {
  const plain = '{"a":[1,-2.5,1e+21,true,null,"\u00e9\\n\\u0001"],"b":{"a":{}}}'
  t.equal(JSON.stringify(JSON.parse(plain)), plain, 'the text is as a client would write it')
  for (const [text, value] of [
    [plain, { a: [1, -2.5, 1e21, true, null, 'é\n\u0001'], b: { a: {} } }],
    ['{"2":0,"1":0}', { 1: 0, 2: 0 }],
    ['{"a":1.0}', { a: 1 }],
  ] as const)
    for (const spaced of [text, ` ${text}`, text.replaceAll(':', ': ')])
      t.ok(isDeepStrictEqual(read(spaced), value), spaced)
})

t.test('JSON that two parsers could read differently is refused', async (t) => {
  const cases: Readonly<Record<string, string | Buffer>> = {
    null: 'null',
    blank: '  ',
    'two values': '{} {}',
    'a comment': '{"a":1}//c',
    'a trailing comma': '{"a":1,}',
    'single quotes': "{'a':1}",
    'a member given twice': '{"id":"a","id":"b"}',
    'a member given twice, once escaped': String.raw`{"id":"a","\u0069d":"b"}`,
    'an object given twice': '{"a":{"b":1},"a":{"b":2}}',
    'a member given twice, deep inside': '[{"a":[{"b":1,"c":[],"b":2}]}]',
    'a member named __proto__': '{"a":[{"__proto__":{"admin":true}}]}',
    '__proto__, escaped': String.raw`{"__prot\u006f__":1}`,
    depth: `${'['.repeat(1001)}${']'.repeat(1001)}`,
    'a long name': `{"${'k'.repeat(50_001)}":1}`,
    'a long number': `[${'1'.repeat(1001)}]`,
    'a long fraction': `[1.${'1'.repeat(1000)}]`,
    'UTF-16': Buffer.from('{"a":1}', 'utf16le'),
    'UTF-16 with a mark': Buffer.from('\ufeff{"a":1}', 'utf16le'),
    'bytes that are not UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    'overlong UTF-8': Buffer.from([0x22, 0xc0, 0xae, 0x22]),
    'a surrogate in UTF-8': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  }
  for (const [claim, text] of Object.entries(cases)) {
    t.throws(() => read(text), refused, claim)
    t.throws(() => read(Buffer.concat([Buffer.from(' '), Buffer.from(text)])), refused, `${claim}, spaced`)
  }
  t.equal(({} as { readonly admin?: boolean }).admin, undefined, 'no prototype has changed')
})

t.test('deeply nested brackets are refused before they are parsed', async (t) => {
  const started = cpuMs()
  t.throws(() => read('['.repeat(2_000_000)), refused)
  t.equal(cpuMs() - started < 1000, true)
})
