import t from 'tap'
import { hasContent } from '../../src/cache/content.ts'
import type { CachedContent } from '../../src/operations/cached-content.ts'
import { answerOf } from '../support/cache-harness.ts'

function is(content: CachedContent, type: string, body: string): boolean {
  return hasContent(answerOf(body, { 'content-type': type }), content)
}

t.test('a diagram is an image or a file of type application/octet-stream', async (t) => {
  for (const type of ['image/png', 'Image/SVG+XML; charset=utf-8', 'application/octet-stream'])
    t.ok(is('diagram', type, 'x'), type)
  for (const type of ['', 'text/html', 'application/json', 'application/image/png'])
    t.notOk(is('diagram', type, 'x'), type)
})

t.test('a model is an object with the XML of a definition', async (t) => {
  for (const name of ['bpmn20Xml', 'dmnXml'])
    t.ok(is('model', 'application/json;charset=UTF-8', JSON.stringify({ id: 'a', [name]: '<x/>' })), name)
  for (const body of ['{}', '{"status":"maintenance"}', '{"bpmn20Xml":null}', '["bpmn20Xml"]', '{"dmnXml":'])
    t.notOk(is('model', 'application/json', body), body)
  t.notOk(is('model', 'text/html', '{"dmnXml":"<x/>"}'))
})

t.test('a list of names is a list of texts', async (t) => {
  for (const body of ['[]', '["a","b"]']) t.ok(is('names', 'application/json', body), body)
  for (const body of ['{}', '[1]', '["a",null]', '[{"status":"maintenance"}]', ''])
    t.notOk(is('names', 'application/json', body), body)
})
