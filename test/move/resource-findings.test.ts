import t from 'tap'
import { findInResources, type ResourceScan, SCAN_LIMITS } from '../../src/move/resource-findings.ts'
import { familyOfProduct } from '../../src/operations/published/engine-families.ts'
import { stubEngine, type StubResponse, withDeployments } from './stub-engine.ts'

const [CAMUNDA, OPERATON] = ['Camunda', 'Operaton'].map(familyOfProduct)
const BOTH = [CAMUNDA ?? null, OPERATON ?? null]

function scan(responses: Readonly<Record<string, StubResponse>>, options: Partial<ResourceScan> = {}) {
  const { ask } = stubEngine(responses)
  return findInResources({
    ask,
    families: BOTH,
    hasTime: () => true,
    onProgress: () => undefined,
    ...options,
  })
}

const foundBy = async (...asked: Parameters<typeof scan>) =>
  (await scan(...asked))
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, subject, found }) => `${severity} ${subject}: ${found}`)

const model = (attributes: string, content = '') =>
  `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" ${attributes}><process id="p">${content}</process></definitions>`
const OPERATON_MODEL = model('xmlns:operaton="http://operaton.org/schema/1.0/bpmn"')

t.test('a namespace of one family is found with the model and the deployment', async (t) => {
  t.same(await foundBy(withDeployments([{ 'a.bpmn': OPERATON_MODEL }, { 'b.bpmn': model('') }])), [
    'error namespace: a.bpmn has the namespace http://operaton.org/schema/1.0/bpmn, which only Operaton reads (deployment d0)',
  ])
  t.same(
    await foundBy(withDeployments([{ 'a.bpmn': OPERATON_MODEL }]), {
      families: [OPERATON ?? null, OPERATON ?? null],
    }),
    [],
    'both groups read it',
  )
  t.equal(
    (await foundBy(withDeployments([{ 'a.bpmn': OPERATON_MODEL }]), { families: [OPERATON ?? null, null] }))
      .length,
    1,
    'an unknown family may not read it',
  )
})

t.test('class names are found in scripts, expressions, attributes and script files', async (t) => {
  const content = `
    <scriptTask id="s"><script>print(1); <![CDATA[ org.camunda.spin.Spin.JSON("1") ]]></script></scriptTask>
    <serviceTask id="d" camunda:class="org.operaton.bpm.Delegate"/>
    <sequenceFlow id="f"><conditionExpression>\${org.camunda.bpm.X.ok()}</conditionExpression></sequenceFlow>
    <userTask id="u" camunda:class="com.acme.Delegate"><documentation>org.camunda.bpm.Y</documentation></userTask>`
  const files = {
    'a.bpmn': model(
      'targetNamespace="http://org.camunda.bpm" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"',
      content,
    ),
    'b.groovy': 'import org.operaton.bpm.engine.delegate.BpmnError\nthrow new BpmnError("1")',
    'c.txt': 'myorg.camundax.A and http://camunda.org/',
  }
  t.same(await foundBy(withDeployments([files])), [
    'error class-name: a.bpmn, element s names org.camunda.spin.Spin.JSON, which only Camunda has (deployment d0)',
    'error class-name: a.bpmn, element d names org.operaton.bpm.Delegate, which only Operaton has (deployment d0)',
    'error class-name: a.bpmn, element f names org.camunda.bpm.X.ok, which only Camunda has (deployment d0)',
    'error class-name: b.groovy names org.operaton.bpm.engine.delegate.BpmnError, which only Operaton has (deployment d0)',
  ])
})

t.test('the same finding in several deployments is listed once', async (t) => {
  const twice = [{ 'a.bpmn': OPERATON_MODEL }, { 'a.bpmn': OPERATON_MODEL }]
  t.match(await foundBy(withDeployments(twice)), [/\(2 times, last in deployment d0\)$/])
})

t.test('a model that cannot be read is a warning, and its text is searched', async (t) => {
  const text = `<!DOCTYPE a>${OPERATON_MODEL}`
  t.match(await foundBy(withDeployments([{ 'a.bpmn': text }])), [
    /^warning model: a\.bpmn cannot be read as a model/,
    /^error namespace: a\.bpmn has the namespace http:\/\/operaton\.org\/schema\//,
  ])
})

const limits = (changed: object) => ({ limits: { ...SCAN_LIMITS, ...changed } })
const gap = (text: RegExp) => new RegExp(`^warning incomplete: .*${text.source}`)

t.test('a limit or a failure makes the result incomplete', async (t) => {
  const files = { 'a.js': 'org.camunda.A', 'b.js': 'org.camunda.B' }
  const responses = withDeployments([files, { 'c.js': 'org.camunda.C' }])
  const last = async (...asked: Parameters<typeof scan>) => (await foundBy(...asked)).at(-1)
  t.match(await last(responses, limits({ deployments: 1 })), gap(/the limit of 1 deployments/))
  t.match(await last(responses, limits({ resources: 1 })), gap(/the limit for resources or bytes/))
  t.match(await last(responses, limits({ bytes: 1 })), gap(/the limit for resources or bytes/))
  t.match(await last(responses, limits({ findings: 1 })), gap(/2 further findings are not listed/))
  t.match(await last(responses, { hasTime: () => false }), gap(/the time limit/))
  t.match(await last({ '/deployment': 403 }), gap(/did not show its deployments: .* status 403/))
  t.match(
    await last({ ...responses, '/deployment/d0/resources/r0/data': 500 }),
    gap(/1 deployed resources could not/),
  )
  const hidden = { ...responses, '/authorization/check': { authorized: false } }
  t.match(await last(hidden), gap(/needs a record with READ/))
  t.equal((await foundBy(responses)).length, 3, 'without a limit')
})

t.test('a deployment or a resource that was deleted in between is not missing', async (t) => {
  const responses = { ...withDeployments([{ 'a.js': '1' }, { 'b.js': '1' }]) }
  t.same(
    await foundBy({ ...responses, '/deployment/d0/resources': 404, '/deployment/d1/resources/r0/data': 404 }),
    [],
  )
})

t.test('all pages of deployments are read, and the progress is reported', async (t) => {
  const many = withDeployments(Array.from({ length: 201 }, () => ({ 'a.js': 'org.camunda.A' })))
  const all = Array.isArray(many['/deployment']) ? many['/deployment'] : []
  const query = 'sortBy=deploymentTime&sortOrder=desc'
  const pages = {
    [`/deployment?${query}&firstResult=0&maxResults=200`]: all.slice(0, 200),
    [`/deployment?${query}&firstResult=200&maxResults=200`]: all.slice(200),
  }
  const counts: number[] = []
  const found = await foundBy(
    { ...many, ...pages },
    { onProgress: (_what, count) => void counts.push(count) },
  )
  t.match(found, [/\(201 times/])
  t.equal(counts.at(-1), 201)
})
