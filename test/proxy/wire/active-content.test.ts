import t from 'tap'
import { clientHeaders, type ParsedHeaders } from '../../../src/proxy/wire/headers.ts'

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
const BODY = { 'content-length': '5' }

function restrictionOf(parsed: ParsedHeaders): unknown {
  const { 'x-content-type-options': sniffing, 'content-security-policy': policy } = clientHeaders(parsed)
  return [sniffing, policy]
}

t.test('content that is not JSON gets headers that keep browsers from running it', (t) => {
  for (const type of [
    'application/xhtml+xml',
    'text/html;charset=UTF-8',
    'image/svg+xml',
    'image/png',
    'application/octet-stream',
    'text/plain',
    'application/jsonp',
    'text/json',
    'text/html; x=application/json',
    '',
  ])
    t.same(restrictionOf({ ...BODY, 'content-type': type }), ['nosniff', POLICY], type)
  t.end()
})

t.test('JSON in all its forms is not restricted', (t) => {
  for (const type of [
    'application/json',
    'Application/JSON;charset=UTF-8',
    'application/hal+json',
    'application/vnd.x+json',
  ])
    t.same(restrictionOf({ ...BODY, 'content-type': type }), [undefined, undefined], type)
  t.end()
})

t.test('a body without a type is restricted, and a response without a body is not', (t) => {
  for (const head of [BODY, { 'transfer-encoding': 'chunked' }, { connection: 'close' }])
    t.same(restrictionOf(head), ['nosniff', POLICY], JSON.stringify(head))
  for (const head of [{}, { 'content-length': '0' }, { connection: 'close', 'content-length': '0' }])
    t.same(restrictionOf(head), [undefined, undefined], JSON.stringify(head))
  t.end()
})

t.test('the policy of an engine stays in force', (t) => {
  const parsed = { 'content-type': 'text/html', 'content-security-policy': "frame-ancestors 'none'" }
  t.same(restrictionOf(parsed), ['nosniff', `frame-ancestors 'none', ${POLICY}`])
  t.end()
})
