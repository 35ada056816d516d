import t from 'tap'
import { readModelNames } from '../../../src/policy/validation/model-names.ts'

const read = async (xml: string | Buffer) => {
  const { namespaces, classes, isRead } = await readModelNames(Buffer.from(xml))
  return { namespaces: [...namespaces], classes, isRead }
}

t.test(
  'namespaces of one family are found in each encoding, on each element, with each prefix',
  async (t) => {
    const namespace = 'http://operaton.org/schema/1.0/bpmn'
    for (const xml of [
      `<a xmlns="${namespace}"/>`,
      `<a><b xmlns:x='${namespace}'/></a>`,
      `<a xmlns:x="http://operaton&#46;org/schema/1.0/bpmn"/>`,
      Buffer.from(`\ufeff<a xmlns:x="${namespace}"/>`, 'utf16le'),
    ])
      t.same(await read(xml), { namespaces: [namespace], classes: [], isRead: true }, String(xml))
    t.same((await read('<a xmlns:camunda="http://camunda.org/schema/1.0/bpmn"/>')).namespaces, [])
    t.same((await read(`<a b="${namespace}">${namespace}</a>`)).namespaces, [], 'this is no declaration')
  },
)

t.test('a class has the id of the nearest element', async (t) => {
  const xml = '<a id="r"><b id="s"><c>org.camunda.A</c><d e="org.camunda.B"/></b><f g="org.camunda.C"/></a>'
  t.same((await read(xml)).classes, [
    { className: 'org.camunda.A', elementId: 's' },
    { className: 'org.camunda.B', elementId: 's' },
    { className: 'org.camunda.C', elementId: 'r' },
  ])
  t.same((await read('<a b="org.camunda.A"/>')).classes, [{ className: 'org.camunda.A', elementId: null }])
  t.same((await read('<a id="r"><b id="s"/>org.camunda.A</a>')).classes, [
    { className: 'org.camunda.A', elementId: 'r' },
  ])
})

t.test('a model that cannot be read is reported, with the names before', async (t) => {
  t.same(await read('<a b="org.camunda.A"><'), {
    namespaces: [],
    classes: [{ className: 'org.camunda.A', elementId: null }],
    isRead: false,
  })
  t.equal((await read('<!DOCTYPE a><a/>')).isRead, false)
  t.equal((await read('<?xml version="1.0" encoding="ebcdic"?><a/>')).isRead, false)
})

t.test('the number of classes is limited', async (t) => {
  t.equal((await read(`<a>${'org.camunda.A '.repeat(1000)}</a>`)).classes.length, 1, 'each counts once')
  const many = Array.from({ length: 1001 }, (_, at) => `org.camunda.A${at} `).join('')
  t.equal((await read(`<a>${many}</a>`)).classes.length, 1000)
})
