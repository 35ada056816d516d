import t from 'tap'
import { findScript } from '../../../src/policy/validation/model-scripts.ts'

const bpmn = (content: string) =>
  `<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" expressionLanguage="http://www.w3.org/1999/XPath">${content}</bpmn:definitions>`
const dmn = (content: string, language = '') =>
  `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" ${language}>${content}</definitions>`

t.test('scripts of processes, cases and decisions are found', async (t) => {
  for (const [model, element] of [
    [bpmn('<bpmn:process><bpmn:scriptTask scriptFormat="groovy"/></bpmn:process>'), 'scriptTask'],
    [
      bpmn('<process><serviceTask><camunda:script resource="deployment://a.js"/></serviceTask></process>'),
      'script',
    ],
    [
      bpmn('<sequenceFlow><conditionExpression language="groovy">true</conditionExpression></sequenceFlow>'),
      'conditionExpression',
    ],
    [
      bpmn('<conditionalEventDefinition><condition language="">x</condition></conditionalEventDefinition>'),
      'condition',
    ],
    [dmn('<decision><literalExpression expressionLanguage="javascript"/></decision>'), 'literalExpression'],
    [dmn('<decision/>', 'expressionLanguage="groovy"'), 'definitions'],
    [dmn('<decision/>', 'expressionLanguage="script-of-feel"'), 'definitions'],
    [dmn('<decision/>', 'expressionLanguage="https://other.example/feel/"'), 'definitions'],
    [bpmn('<a:SCRIPT/><b:script/>'), 'script'],
  ] as const)
    t.same(await findScript(Buffer.from(model)), { element }, model)
  const utf16 = Buffer.from(`\ufeff${bpmn('<scriptTask/>')}`, 'utf16le')
  t.same(await findScript(utf16), { element: 'scriptTask' }, 'UTF-16')
  t.same(await findScript(Buffer.from('<a><script/><broken')), { element: 'script' }, 'before an error')
})

t.test('expressions, text and comments are no scripts', async (t) => {
  for (const model of [
    bpmn('<sequenceFlow><conditionExpression>${a}</conditionExpression></sequenceFlow>'),
    bpmn('<!-- <scriptTask/> --><documentation><![CDATA[<script/>]]></documentation><task name="script"/>'),
    dmn('<decision><inputExpression expressionLanguage="juel"/></decision>'),
    dmn('<decision/>', 'expressionLanguage="https://www.omg.org/spec/DMN/20191111/FEEL/"'),
    dmn('<decision/>', 'expressionLanguage="http://www.omg.org/spec/FEEL/20140401"'),
    dmn('<decision/>', 'expressionLanguage="FEEL"'),
  ])
    t.equal(await findScript(Buffer.from(model)), 'none', model)
})

t.test('a model that cannot be read may contain a script', async (t) => {
  for (const model of [
    '<a>',
    '<!DOCTYPE a><a/>',
    '<a>&x;</a>',
    '<a><:b/></a>',
    '<?xml version="1.0" encoding="x-unknown"?><a/>',
    `${'<a>'.repeat(1001)}${'</a>'.repeat(1001)}`,
  ])
    t.equal(await findScript(Buffer.from(model)), 'unknown', model)
})

function checkDeadline(): never {
  throw new Error('left')
}

t.test('the search stops if the client disconnects', async (t) => {
  const model = Buffer.from(`<a>${'<b/>'.repeat(100_000)}</a>`)
  await t.rejects(findScript(model, checkDeadline), { message: 'left' })
})
