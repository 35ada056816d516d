import t from 'tap'
import { toolResultOf } from '../../src/mcp/tool-result.ts'
import { longestTurnOf } from '../support/longest-turn.ts'

/** The longest time in which no other work may run. */
const MAX_TURN_MS = 50

const JSON_HEADERS: Record<string, string> = { 'content-type': 'application/json' }
const HINT = 'Use firstResult.'

function resultOf(body: string | Buffer, { status = 200, headers = JSON_HEADERS, isCut = false } = {}) {
  return toolResultOf({ status, headers, body: Buffer.from(body), isCut }, HINT)
}

t.test('a response is its text, and its value if no number is rounded', (t) => {
  t.same(resultOf('{"id":"a"}'), {
    content: [{ type: 'text', text: '{"id":"a"}' }],
    structuredContent: { id: 'a' },
  })
  t.same(resultOf('[1, 2]').structuredContent, { items: [1, 2] })
  for (const rounded of ['{"a":12345678901234567}', '[1.10]', '[1e3]', '{"a": -0.5}'])
    t.same(resultOf(rounded), { content: [{ type: 'text', text: rounded }] })
  const dated = { created: '2026-11-26T21:12:33.123+0000', id: 'a"b:1.5', n: 1, d: '12345678901234567' }
  t.same(resultOf(JSON.stringify(dated)).structuredContent, dated)
  t.same(resultOf('true').structuredContent, undefined)
  t.match(resultOf('', { status: 204, headers: {} }), { content: [{ text: /204 and no content/ }] })
  t.same(resultOf('a,b', { headers: { 'content-type': 'text/plain' } }), {
    content: [{ type: 'text', text: 'a,b' }],
  })
  t.end()
})

t.test('an error is one line with the status, the code and the message', (t) => {
  const error = '{"type":"AuthorizationException","message":"no","code":null}'
  t.same(resultOf(error, { status: 403 }), {
    content: [{ type: 'text', text: 'HTTP 403 AuthorizationException: no' }],
    isError: true,
  })
  const headers = { ...JSON_HEADERS, 'x-gateway-error': 'GW_RATE_LIMITED', 'retry-after': '3' }
  t.match(resultOf('{"type":"X","message":"much"}', { status: 429, headers }), {
    content: [{ text: 'HTTP 429 X (GW_RATE_LIMITED): much. Try again after 3 seconds.' }],
  })
  t.match(resultOf('<html>', { status: 502, headers: {} }), {
    content: [{ text: 'HTTP 502' }],
    isError: true,
  })
  t.end()
})

t.test('a list that is too long ends after a whole item', (t) => {
  const cut = resultOf('[{"a":"},["},{"a":[1,2]},{"a":"x', { isCut: true })
  t.same(cut.content[0], { type: 'text', text: '[{"a":"},["},{"a":[1,2]}]' })
  t.match(cut.content[1]?.text, /first 2 items.*Use firstResult/)
  t.equal(cut.structuredContent, undefined)
  t.end()
})

t.test('another response that is too long ends after a whole character', (t) => {
  const cut = resultOf(Buffer.from('{"a":"…').subarray(0, -1), { isCut: true })
  t.same(cut.content[0], { type: 'text', text: '{"a":"' })
  t.match(cut.content[1]?.text, /first part/)
  t.match(resultOf('[{"a":1', { isCut: true }).content[0], { text: '[{"a":1' })
  t.end()
})

t.test('bytes that are no text are not returned', (t) => {
  t.match(resultOf('', { headers: { 'content-type': 'image/png' }, isCut: true }), {
    content: [{ text: /image\/png/ }],
    isError: true,
  })
  t.end()
})

t.test('a response with very many levels is only a text', (t) => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const nested = (levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`
    t.ok(resultOf(nested(100)).structuredContent)
    for (const levels of [101, 100_000])
      t.same(resultOf(nested(levels)), { content: [{ type: 'text', text: nested(levels) }] })
  }
  t.ok(resultOf(JSON.stringify(['['.repeat(1000)])).structuredContent)
  t.end()
})

t.test('the longest result does not delay other requests', async (t) => {
  const bytes = 1024 ** 2
  for (const part of ['{"a":{}},', '1,', '"\\"\\"",']) {
    const body = `[${part.repeat(bytes / part.length).slice(0, -1)}]`
    for (const isCut of [false, true]) {
      const longest = await longestTurnOf(MAX_TURN_MS, async () => {
        t.equal(resultOf(body, { isCut }).structuredContent === undefined, isCut)
      })
      t.ok(longest < MAX_TURN_MS, `${Math.round(longest)} ms for ${part}`)
    }
  }
})
