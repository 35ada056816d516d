import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compareResponses } from '../../../src/proxy/compare/compare-responses.ts'
import { KNOWN_DIFFERENCES } from '../../../src/proxy/compare/known-differences.ts'
import type { BufferedResponse } from '../../../src/request/buffered-response.ts'

function responseOf(body: unknown, more: Partial<BufferedResponse> = {}): BufferedResponse {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return { status: 200, headers: { 'content-type': 'application/json' }, body: bytes, ...more }
}

const compare = (left: unknown, right: unknown, more: Partial<BufferedResponse> = {}) =>
  compareResponses(responseOf(left, more), responseOf(right, more))

const different = (place: string, left: string, right: string) => ({
  result: 'different',
  difference: { place, left, right },
})

t.test('JSON values with members in another order are equal', (t) => {
  t.same(compare({ a: 1, b: [{ c: null, d: 'x' }] }, { b: [{ d: 'x', c: null }], a: 1 }), { result: 'equal' })
  t.same(compare('[1, 2]', '[1,2]'), { result: 'equal' })
  t.end()
})

t.test('a difference is named by its place, without the text of the responses', (t) => {
  for (const [left, right, place, one, other] of [
    [[{ name: 'Mary' }], [{ name: 'Ben' }], '/0/name', 'text of 4 characters', 'text of 3 characters'],
    [{ a: null }, {}, '/a', 'null', 'missing'],
    [{}, { a: false }, '/a', 'missing', 'false'],
    [[1, 2], [1], '', '2 items', '1 items'],
    [{ a: { b: 1 } }, { a: [1] }, '/a', 'object with 1 members', '1 items'],
    [{ a: 1 }, { a: '1' }, '/a', 'number', 'text of 1 characters'],
    [{ a: 1 }, { a: 2 }, '/a', 'number', 'number'],
    [[1, 2], [2, 1], '/0', 'number', 'number'],
    ['{', '{}', 'body', 'other bytes', 'object with 0 members'],
  ] as const)
    t.same(compare(left, right), different(place, one, other), JSON.stringify([left, right]))
  t.end()
})

t.test('status and headers are compared first', (t) => {
  const left = responseOf({ a: 1 })
  t.same(compareResponses(left, { ...left, status: 500 }), different('status', '200', '500'))
  const csv = { ...left, headers: { 'content-type': 'text/csv' } }
  t.same(compareResponses(left, csv), different('content-type', 'application/json', 'text/csv'))
  const named = (name: string) => ({
    ...left,
    headers: { ...left.headers, 'content-disposition': `attachment; filename="${name}"` },
  })
  t.match(compareResponses(named('secret-1'), named('secret-22')), { result: 'different' })
  t.notMatch(JSON.stringify(compareResponses(named('secret-1'), named('secret-22'))), /secret/)
  const spaced = { ...left, headers: { 'content-type': 'application/json;charset=utf-8' } }
  const tight = { ...left, headers: { 'content-type': 'application/json; charset=UTF-8' } }
  t.same(compareResponses(spaced, tight), { result: 'equal' })
  t.end()
})

t.test('other bodies are compared as bytes', (t) => {
  const xml = { headers: { 'content-type': 'application/xml' } }
  t.same(compare('<a/>', '<a/>', xml), { result: 'equal' })
  t.same(compare('<a/>', '<b/>', xml), different('body', 'other bytes', 'other bytes'))
  t.end()
})

t.test('the names that a family gives to its own parts are known', (t) => {
  for (const [kind, left, right] of [
    ['form-reference', [{ camundaFormRef: null }], [{ operatonFormRef: null }]],
    ['form-reference', { a: { camundaFormRef: { key: 'x' } } }, { a: { cibsevenFormRef: { key: 'x' } } }],
    ['hal-links', { _links: {}, id: 'a' }, { _links: {}, id: 'a', links: null, embedded: null }],
    ['package-name', { '@class': 'org.camunda.bpm.A' }, { '@class': 'org.operaton.bpm.A' }],
    ['package-name', { message: 'no camunda:formRef' }, { message: 'no operaton:formRef' }],
    [
      'several',
      [{ camundaFormRef: null, type: 'org.camunda.A' }],
      [{ operatonFormRef: null, type: 'org.operaton.A' }],
    ],
  ] as const)
    t.same(compare(left, right), { result: 'known', kind })
  t.end()
})

t.test('a known difference hides no other one', (t) => {
  t.same(
    compare({ camundaFormRef: null, name: 'a' }, { operatonFormRef: null, name: 'b' }),
    different('/name', 'text of 1 characters', 'text of 1 characters'),
  )
  t.match(compare({ camundaFormRef: null }, { operatonFormRef: 'x' }), { result: 'different' })
  t.match(compare({ id: 'a' }, { id: 'a', links: [] }), { result: 'different' }, 'links without _links')
  t.match(compare({ a: 'camundaFormRef' }, { a: 'operatonFormRef' }), { result: 'different' })
  t.match(compare({ a: 'org.camundax' }, { a: 'org.operatonx' }), { result: 'different' })
  t.end()
})

const error = (message: string) => ({ type: 'InvalidRequestException', message, code: null })

t.test('only the text of a 400 may differ', (t) => {
  t.same(compare(error('a'), error('b'), { status: 400 }), { result: 'known', kind: 'error-text' })
  t.match(compare(error('a'), error('b'), { status: 500 }), { result: 'different' })
  t.match(compare(error('a'), error('b')), { result: 'different' })
  t.match(compare({ ...error('a'), code: 1 }, error('b'), { status: 400 }), { result: 'different' })
  t.end()
})

const deep = (inner: string) => `${'['.repeat(5000)}${inner}${']'.repeat(5000)}`

t.test('a body that is too deep for a comparison by member is compared as bytes', (t) => {
  t.same(compare(deep('1'), deep('1')), { result: 'equal' })
  t.same(compare(deep('1'), deep('2')), different('body', 'other bytes', 'other bytes'))
  t.end()
})

t.test('the page lists each known difference', (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/configuration/balancing.md'), 'utf8')
  for (const { kind, about } of KNOWN_DIFFERENCES) t.ok(page.includes(`| \`${kind}\` | ${about} |`), kind)
  t.end()
})
