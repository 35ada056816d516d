import t, { type Test } from 'tap'
import { aboutEngine, type StubResponse } from '../../move/stub-engine.ts'
import { startNode } from '../../support/fake-engine.ts'
import { GatewayError } from '../../../src/errors.ts'
import { type GatewayOptions, openGateway } from '../../support/open-gateway.ts'

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

function bodyOf(fact: StubResponse): Buffer | string {
  if (Buffer.isBuffer(fact)) return fact
  return typeof fact === 'number' ? '' : JSON.stringify(fact)
}

type Facts = Readonly<Record<string, StubResponse>>

interface Groups {
  readonly old: Facts
  readonly next: Facts
  /** Further members of the engine. */
  readonly engine?: Readonly<Record<string, unknown>>
  readonly isOldDrained?: boolean
  readonly wrap?: GatewayOptions['wrap']
}

/** Opens a gateway in front of two groups. Returns a function that deploys a model, and the deployments that reached a node. */
async function openGroups(t: Test, { old, next, engine = {}, isOldDrained = false, wrap }: Groups) {
  const deployments: string[] = []
  const reads: string[] = []
  const startGroup = (facts: Facts) =>
    startNode(t, ({ method, url }, response) => {
      if (method === 'POST') deployments.push(url)
      else reads.push(url)
      const fact = facts[url] ?? { id: 'd1' }
      response.statusCode = typeof fact === 'number' ? fact : 200
      response.setHeader('content-type', 'application/json')
      response.end(bodyOf(fact))
    })
  const nodes = [
    { url: (await startGroup(old)).url, group: 'old', drain: isOldDrained },
    { url: (await startGroup(next)).url, group: 'new' },
  ]
  const { ask, dependencies } = await openGateway(t, {
    engines: { default: { nodes, shift: { to: 'new' }, ...engine } },
    settings: { health: { probe: false }, limits: { deploymentBody: '1MiB' } },
    watch: true,
    ...(wrap === undefined ? {} : { wrap }),
  })
  return {
    deploy: (model: string) => ask('demo', 'POST /deployment/create', upload(model)),
    ask,
    deployments,
    reads,
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

const RESOURCES = {
  '/deployment/d1': {
    id: 'd1',
    name: 'd1',
    source: null,
    tenantId: null,
    deploymentTime: '2026-01-01T00:00:00.000+0000',
  },
  '/deployment/d1/resources': [
    { id: 'r1', name: 'a.bpmn', deploymentId: 'd1' },
    { id: 'r2', name: 'forked.bpmn', deploymentId: 'd1' },
    { id: 'r3', name: 'notes.txt', deploymentId: 'd1' },
  ],
  '/deployment/d1/resources/r1/data': Buffer.from(CAMUNDA_MODEL),
  '/deployment/d1/resources/r2/data': Buffer.from(OPERATON_MODEL),
}

/** Opens a gateway in front of Camunda and Operaton that have deployment `d1`. Returns a function that deploys its resources again. */
async function openDeployed(t: Test, { old = {}, next = {}, ...groups }: Partial<Groups>) {
  const opened = await openGroups(t, {
    ...groups,
    old: { ...CAMUNDA, ...RESOURCES, ...old },
    next: { ...OPERATON, ...RESOURCES, ...next },
  })
  const redeploy = (body: object) =>
    opened.ask('demo', 'POST /deployment/d1/redeploy', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { ...opened, redeploy }
}

t.test('a deployment with such a model is not deployed again', async (t) => {
  const { redeploy, deployments } = await openDeployed(t, {})
  for (const body of [
    {},
    { resourceIds: [], resourceNames: null },
    { resourceIds: ['r1', 'r2'] },
    { resourceIds: ['r1'], resourceNames: ['forked.bpmn'] },
  ])
    t.match(await redeploy(body), { ...REFUSED, body: { message: new RegExp(NAMESPACE) } }, body)
  t.same(deployments, [])
  for (const body of [{ resourceIds: ['r1'] }, { resourceNames: ['a.bpmn', 'notes.txt'] }])
    t.equal((await redeploy(body)).status, 200, body)
  t.equal(deployments.length, 2)
})

t.test('a deployment whose models cannot be read is not deployed again', async (t) => {
  for (const facts of [
    { '/deployment/d1/resources': {} },
    { '/deployment/d1/resources': [{ id: 'r1' }] },
    { '/deployment/d1/resources': 403 },
    { '/deployment/d1/resources': 404 },
    { '/deployment/d1/resources/r1/data': 500 },
    { '/deployment/d1/resources/r1/data': 404 },
    { '/deployment/d1/resources/r1/data': Buffer.from(UNREADABLE) },
    { '/deployment/d1/resources/r1/data': Buffer.from(`${CAMUNDA_MODEL}${' '.repeat(1024 ** 2)}`) },
  ]) {
    const { redeploy, deployments } = await openDeployed(t, { old: facts, next: facts })
    t.match(
      await redeploy({ resourceIds: ['r1'] }),
      { ...REFUSED, body: { message: /cannot be read/ } },
      facts,
    )
    t.same(deployments, [])
  }
})

t.test('the models of a redeployment have a limit of number and of bytes together', async (t) => {
  const many = Array.from({ length: 1001 }, (_, at) => ({ id: 'r1', name: `${at}.bpmn` }))
  const large = Buffer.from(`${CAMUNDA_MODEL}${' '.repeat(600 * 1024)}`)
  const two = [
    { id: 'r1', name: 'a.bpmn' },
    { id: 'r2', name: 'b.bpmn' },
  ]
  for (const facts of [
    { '/deployment/d1/resources': many },
    {
      '/deployment/d1/resources': two,
      '/deployment/d1/resources/r1/data': large,
      '/deployment/d1/resources/r2/data': large,
    },
  ]) {
    const { redeploy, deployments } = await openDeployed(t, { old: facts, next: facts })
    t.match(await redeploy({}), { ...REFUSED, body: { message: /cannot be read/ } })
    t.same(deployments, [])
    t.equal((await redeploy({ resourceNames: ['a.bpmn', '7.bpmn'] })).status, 200)
  }
})

t.test(
  'models are not read for a redeployment if it may be in any namespace, or is not permitted',
  async (t) => {
    for (const [next, user] of [
      [CAMUNDA, 'demo'],
      [OPERATON, 'nobody'],
    ] as const) {
      const { ask, reads } = await openDeployed(t, { next })
      const request = { headers: { 'content-type': 'application/json' }, body: '{}' }
      const { status } = await ask(user, 'POST /deployment/d1/redeploy', request)
      t.equal(status, user === 'demo' ? 200 : 404)
      t.same(
        reads.filter((url) => url.includes('/resources')),
        [],
        user,
      )
    }
  },
)

t.test('report mode counts the refusal of a redeployment, and sends the request', async (t) => {
  const { redeploy, dependencies } = await openDeployed(t, { engine: { validation: { mode: 'report' } } })
  t.equal((await redeploy({})).status, 200)
  t.match(await dependencies.metrics.text(), /gateway_refusals_total\{[^}]*reason="GW_FOREIGN_NAMESPACE"\} 1/)
})

t.test('the checks of redeployments reserve memory, and are refused if there is not enough', async (t) => {
  let reserved = 0
  let isFull = false
  const { redeploy, reads, deployments } = await openDeployed(t, {
    wrap: (dependencies) => ({
      ...dependencies,
      pressure: {
        ...dependencies.pressure,
        reserve: (bytes) => {
          if (isFull) return new GatewayError('GW_OVERLOADED', { retryAfterSeconds: 2 })
          reserved += bytes
          t.equal(bytes, 1024 ** 2, 'all models together have at most this size')
          return null
        },
        release: (bytes) => {
          t.ok(
            reads.some((url) => url.endsWith('/r1/data')),
            'after the models were read',
          )
          reserved -= bytes
        },
      },
    }),
  })
  t.equal((await redeploy({ resourceIds: ['r1'] })).status, 200)
  t.equal(reserved, 0, 'released after the check')
  t.match(await redeploy({}), REFUSED)
  t.equal(reserved, 0, 'released after a refusal')
  isFull = true
  reads.length = 0
  t.match(await redeploy({ resourceIds: ['r1'] }), {
    status: 503,
    headers: { 'x-gateway-error': 'GW_OVERLOADED', 'retry-after': '2' },
  })
  t.same([reads.filter((url) => url.includes('/resources')), deployments.length], [[], 1])
})

const MODES = ['off', 'report', 'engine'] as const

function userOf(authorization = ''): string {
  const [user = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
  return user
}

/** Opens two groups of a deployment that only `demo` may read. The engine decides, and the gateway reads the engine with another account. */
async function openDecidingEngine(t: Test, mode: (typeof MODES)[number], facts: Facts = {}) {
  const reserved: number[] = []
  const missing = {
    type: 'InvalidRequestException',
    message: "Deployment with id 'd1' does not exist",
    code: 0,
  }
  const reads: string[] = []
  const deployments: string[] = []
  const startGroup = (group: Facts) =>
    startNode(t, ({ method, url, headers: { authorization, accept, 'content-type': type } }, response) => {
      const user = userOf(authorization)
      if (method === 'POST') deployments.push(`${user} ${url}`)
      else if (url.startsWith('/deployment/d1/resources')) reads.push(`${user} ${accept} ${type}`)
      const isHidden = url.startsWith('/deployment/d1') && user !== 'demo' && user !== 'service'
      const fact = isHidden ? missing : (group[url] ?? { id: 'd2' })
      const status = typeof fact === 'number' ? fact : 200
      response.writeHead(isHidden ? 404 : status, { 'content-type': 'application/json' })
      response.end(bodyOf(fact))
    })
  const nodes = [
    { url: (await startGroup({ ...CAMUNDA, ...RESOURCES, ...facts })).url, group: 'old' },
    { url: (await startGroup({ ...OPERATON, ...RESOURCES, ...facts })).url, group: 'new' },
  ]
  const { ask } = await openGateway(t, {
    engines: {
      default: {
        nodes,
        shift: { to: 'new' },
        credentials: 'forward',
        service: { username: 'service', password: 'service' },
        authorization: { mode, records: RECORDS_FILE },
      },
    },
    settings: {
      health: { probe: false },
    },
    watch: true,
    wrap: (dependencies) => ({
      ...dependencies,
      pressure: {
        ...dependencies.pressure,
        reserve: (bytes) => {
          reserved.push(bytes)
          return null
        },
      },
    }),
  })
  return {
    redeploy: (user: string, body: object) => ask(user, REDEPLOY, { body, headers: { accept: '*/*' } }),
    missing,
    reserved,
    reads,
    deployments,
  }
}

const RECORDS_FILE = { source: 'file', file: 'records.yaml' } as const
const REDEPLOY = 'POST /deployment/d1/redeploy'

t.test(
  'if the engine decides, a caller who may not read the deployment gets the response of the engine',
  async (t) => {
    for (const mode of MODES) {
      const { redeploy, missing, reserved, reads, deployments } = await openDecidingEngine(t, mode)
      for (const body of [{}, { resourceIds: ['r1'] }, { resourceIds: ['r2'] }, { resourceIds: ['none'] }]) {
        const { status, headers: sent, body: shown } = await redeploy('mary', body)
        t.same(
          { status, error: sent['x-gateway-error'], shown },
          { status: 404, error: undefined, shown: missing },
          mode,
        )
      }
      t.same([reads, reserved, deployments], [[], [], []], mode)
    }
  },
)

t.test('if the engine decides, the models are read with the credentials of the caller', async (t) => {
  for (const mode of MODES) {
    const { redeploy, reserved, reads, deployments } = await openDecidingEngine(t, mode)
    t.match(await redeploy('demo', {}), { ...REFUSED, body: { message: new RegExp(NAMESPACE) } }, mode)
    t.same(deployments, [])
    t.equal((await redeploy('demo', { resourceIds: ['r1'] })).status, 200, mode)
    t.same(deployments, ['demo /deployment/d1/redeploy'])
    t.same(new Set(reads), new Set(['demo application/json undefined']), `${mode}: reads have no body`)
    t.equal(reserved.length, 2, mode)
  }
})

t.test(
  'if the engine hides the models of a deployment from the caller, the refusal does not describe them',
  async (t) => {
    for (const facts of [
      { '/deployment/d1': 404 },
      { '/deployment/d1/resources': 403 },
      { '/deployment/d1/resources': 404 },
      { '/deployment/d1/resources/r2/data': 403 },
    ]) {
      const { redeploy, deployments } = await openDecidingEngine(t, 'engine', facts)
      const { status, headers: sent, bytes } = await redeploy('demo', { resourceIds: ['r2'] })
      t.same([status, sent['x-gateway-error']], [400, 'GW_FOREIGN_NAMESPACE'])
      t.notMatch(bytes.toString(), NAMESPACE)
      t.same(deployments, [])
    }
  },
)
