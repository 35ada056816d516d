import t, { type Test } from 'tap'
import { aboutEngine, type StubResponse } from '../../move/stub-engine.ts'
import { startNode } from '../../support/fake-engine.ts'
import { openGateway } from '../../support/open-gateway.ts'

const NAMESPACE = 'http://operaton.org/schema/1.0/bpmn'
const OPERATON_MODEL = `<definitions xmlns:operaton="${NAMESPACE}"><process/></definitions>`
const CAMUNDA_MODEL =
  '<definitions xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process/></definitions>'
const UNREADABLE = '<definitions'
const CAMUNDA = aboutEngine('Camunda', '7.24.0', '7.24.0')
const OPERATON = aboutEngine('Operaton', '1.0.3', '7.24.0')

const headers = { 'content-type': 'multipart/form-data; boundary=B' }

function upload(content: string) {
  const part = `Content-Disposition: form-data; name="data"; filename="a.bpmn"\r\n\r\n${content}`
  return { headers, body: `--B\r\n${part}\r\n--B--\r\n` }
}

type Facts = Readonly<Record<string, StubResponse>>

interface Groups {
  readonly old: Facts
  readonly next: Facts
  /** Further members of the engine. */
  readonly engine?: Readonly<Record<string, unknown>>
  readonly isOldDrained?: boolean
}

/** Opens a gateway in front of two groups. Returns a function that deploys a model, and the deployments that reached a node. */
async function openGroups(t: Test, { old, next, engine = {}, isOldDrained = false }: Groups) {
  const deployments: string[] = []
  const startGroup = (facts: Facts) =>
    startNode(t, ({ method, url }, response) => {
      if (method === 'POST') deployments.push(url)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(facts[url] ?? { id: 'd' }))
    })
  const nodes = [
    { url: (await startGroup(old)).url, group: 'old', drain: isOldDrained },
    { url: (await startGroup(next)).url, group: 'new' },
  ]
  const { ask, dependencies } = await openGateway(t, {
    engines: { default: { nodes, shift: { to: 'new' }, ...engine } },
    settings: { health: { probe: false } },
    watch: true,
  })
  return {
    deploy: (model: string) => ask('demo', 'POST /deployment/create', upload(model)),
    deployments,
    dependencies,
  }
}

const REFUSED = { status: 400, headers: { 'x-gateway-error': 'GW_FOREIGN_NAMESPACE' } }

t.test(
  'a model in the namespace of one family is refused while groups of two families get requests',
  async (t) => {
    const { deploy, deployments } = await openGroups(t, { old: CAMUNDA, next: OPERATON })
    t.match(await deploy(OPERATON_MODEL), { ...REFUSED, body: { message: new RegExp(NAMESPACE) } })
    t.match(await deploy(UNREADABLE), { ...REFUSED, body: { message: /cannot be read/ } })
    t.same(deployments, [])
    t.equal((await deploy(CAMUNDA_MODEL)).status, 200)
    t.equal(deployments.length, 1)
  },
)

t.test('a family that is not known may not read the namespace', async (t) => {
  for (const next of [OPERATON, {}]) {
    const { deploy, deployments } = await openGroups(t, { old: {}, next })
    t.match(await deploy(OPERATON_MODEL), REFUSED)
    t.same(deployments, [])
  }
})

t.test('a model is accepted if all nodes in use are of the family', async (t) => {
  for (const groups of [
    { old: OPERATON, next: OPERATON },
    { old: {}, next: OPERATON, engine: { release: 'Operaton 1.0' } },
    { old: CAMUNDA, next: OPERATON, isOldDrained: true },
  ]) {
    const { deploy } = await openGroups(t, groups)
    t.equal((await deploy(OPERATON_MODEL)).status, 200)
    t.equal((await deploy(UNREADABLE)).status, 200, 'the engine responds to it')
  }
})

t.test('report mode counts the refusal and sends the model', async (t) => {
  const { deploy, dependencies } = await openGroups(t, {
    old: CAMUNDA,
    next: OPERATON,
    engine: { validation: { mode: 'report' } },
  })
  t.equal((await deploy(OPERATON_MODEL)).status, 200)
  t.match(await dependencies.metrics.text(), /gateway_refusals_total\{[^}]*reason="GW_FOREIGN_NAMESPACE"\} 1/)
})
