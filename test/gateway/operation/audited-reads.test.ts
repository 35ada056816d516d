import t, { type Test } from 'tap'
import { loadSettings, settingsWith } from '../../support/config-file.ts'
import { until } from '../../support/cache-harness.ts'
import { startNode } from '../../support/fake-engine.ts'
import {
  authorizationOf,
  BASE,
  type GatewayOptions,
  openGateway,
  type OpenGateway,
} from '../../support/open-gateway.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { recordsOf } from '../../support/people.ts'
import { ConfigError } from '../../../src/config/config.ts'

const TASKS = { log: { level: 'info' }, audit: { reads: ['getTasks', 'getRestAPIVersion'] } } as const

async function linesBehind(gateway: OpenGateway, ...ask: Parameters<OpenGateway['ask']>) {
  const linesOf = () => gateway.log.filter(({ stream }) => stream === 'audit')
  const before = linesOf().length
  await gateway.ask(...ask)
  await new Promise(setImmediate)
  return linesOf().slice(before)
}

function reasonsOf(mode: string, records: readonly string[], settings: object = {}): GatewayOptions {
  return {
    records,
    settings: {
      audit: { reasons: true, reads: ['getTask', 'getTasks', 'getProcessEngineNames'] },
      authorization: { mode, records: { source: 'file', file: 'records.yaml' } },
      ...settings,
    },
  }
}

async function permittedBy(t: Test, options: GatewayOptions, ...ask: Parameters<OpenGateway['ask']>) {
  const [line] = await linesBehind(await openGateway(t, options), ...ask)
  t.match(line, { decision: 'permitted' })
  return line?.['permittedBy']
}

t.test('a read that the configuration names has a line, and no other read has one', async (t) => {
  const gateway = await openGateway(t, { settings: TASKS })
  t.match(await linesBehind(gateway, 'demo', 'GET /task?name=x'), [
    { user: 'demo', operation: 'getTasks', decision: 'permitted', status: 200, permittedBy: undefined },
  ])
  t.match(await linesBehind(gateway, 'demo', 'HEAD /version'), [
    { operation: 'getRestAPIVersion', status: 200 },
  ])
  t.same(await linesBehind(gateway, 'demo', 'POST /task', { body: {} }), [])
  t.same(await linesBehind(gateway, 'demo', 'GET /task/count'), [])
  t.match(await linesBehind(gateway, null, 'GET /task'), [{ decision: 'refused', status: 401 }], 'one line')
})

t.test('names of unknown operations and of writes are refused, with the name that was meant', (t) => {
  const problemsOf = (reads: unknown) => {
    try {
      loadSettings(t, settingsWith({ audit: { reads } }))
      return []
    } catch (error) {
      return error instanceof ConfigError ? error.problems : [error]
    }
  }
  t.same(problemsOf(['getTasks']), [])
  t.match(problemsOf(['getTask', 'getTaskz', 'createUser']), [
    /^audit\.reads\[1\]: 'getTaskz' is not an operation.*getTasks?/,
    /^audit\.reads\[2\]: is an operation that writes/,
  ])
  t.match(problemsOf(['secret value']), [/^audit\.reads\[0\]: /])
  t.notMatch(String(problemsOf([`${'x'.repeat(90)} secret`])), 'secret')
  t.end()
})

t.test('a verification of credentials has a line, and a remembered credential has none', async (t) => {
  const gateway = await openGateway(t, { settings: { audit: { logins: true } } })
  const login = {
    user: 'demo',
    stage: 'authenticate',
    rule: 'login',
    decision: 'permitted',
    authenticated: 'basic',
  }
  t.match(await linesBehind(gateway, 'demo', 'GET /task'), [login])
  t.same(await linesBehind(gateway, 'demo', 'GET /task'), [])
  t.match(await linesBehind(gateway, 'mary', 'POST /signal', { body: { name: 'stopAll' } }), [
    { ...login, user: 'mary', change: undefined, created: undefined },
    { decision: 'refused', stage: 'permit' },
  ])
  const another = await openGateway(t, { settings: { audit: { logins: true } } })
  const body = { type: 1, permissions: ['READ'], userId: 'ben', resourceType: 7, resourceId: '*' }
  t.match(await linesBehind(another, 'demo', 'POST /authorization/create', { body }), [
    { ...login, change: undefined },
    { rule: undefined, change: { action: 'create' } },
  ])
  const silent = await openGateway(t)
  t.same(await linesBehind(silent, 'demo', 'GET /task'), [])
})

t.test('the line of a permitted request names the record that permits it', async (t) => {
  const records = [
    'grant @clerks TASK:* READ',
    'grant mary PROCESS_INSTANCE:* UPDATE',
    'grant mary PROCESS_DEFINITION:* UPDATE_INSTANCE',
  ]
  const options = reasonsOf('enforce', records)
  const gateway = await openGateway(t, options)
  const first = recordsOf([]).length
  const [signal] = await linesBehind(gateway, 'mary', 'POST /signal', { body: { name: 'stopAll' } })
  t.equal(
    JSON.stringify(signal?.['permittedBy']).split('"by"').length,
    2,
    'the first of several alternatives',
  )
  t.match(signal?.['permittedBy'], [
    {
      check: 0,
      by: 'record',
      permission: 'UPDATE',
      resource: 'ProcessInstance',
      record: { type: 1, userId: 'mary', resourceType: 8, resourceId: '*', position: first + 1 },
    },
  ])
  const [id = ''] = await idsOf(gateway.engine.base, '/task?maxResults=1')
  const [read] = await linesBehind(gateway, 'mary', `GET /task/${id}`)
  t.match(read?.['permittedBy'], [
    { by: 'record', permission: 'READ', record: { groupId: 'clerks', userId: undefined, position: first } },
  ])
})

t.test('a request that needs no record names another reason', async (t) => {
  const signal = ['mary', 'POST /signal', { body: { name: 'stopAll' } }] as const
  t.same(await permittedBy(t, reasonsOf('off', []), ...signal), [{ by: 'authorization off' }])
  t.same(await permittedBy(t, reasonsOf('enforce', []), 'mary', 'GET /task'), [{ by: 'visible items' }])
  t.same(await permittedBy(t, reasonsOf('enforce', []), 'demo', 'GET /task'), [{ by: 'all items' }])
  const unlocked = await permittedBy(t, reasonsOf('enforce', []), 'demo', 'POST /user/mary/unlock')
  t.match(unlocked, [
    { check: 0, by: 'administrator' },
    { check: 1, by: 'record', record: { groupId: 'camunda-admin' } },
  ])
  const open = reasonsOf('enforce', [], {
    identity: { source: 'file', file: 'users.yaml', remember: '1h', open: ['engines'] },
  })
  t.same(await permittedBy(t, open, null, 'GET /engine'), [{ by: 'open operation' }])
  const reported = reasonsOf('report', ['grant mary PROCESS_INSTANCE:* UPDATE'])
  t.match(await permittedBy(t, reported, ...signal), [{ by: 'record', record: { userId: 'mary' } }])
})

t.test('a permission that the engine grants every user on their own account is implicit', async (t) => {
  const gateway = await openGateway(t, {
    ...reasonsOf('enforce', []),
    engine: (_request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"id":"mary"}')
    },
  })
  const body = { password: 'new', authenticatedUserPassword: 'mary' }
  const [line] = await linesBehind(gateway, 'mary', 'PUT /user/mary/credentials', { body })
  t.match(line?.['permittedBy'], [
    { check: 0, by: 'implicit' },
    { check: 1, by: 'implicit' },
    { check: 2, by: 'implicit' },
  ])
})

t.test('a cached response and a login at an application have a line', async (t) => {
  const { url: upstream } = await startNode(t)
  const gateway = await openGateway(t, {
    listen: true,
    settings: {
      audit: { reads: ['getProcessDefinitionBpmn20XmlByKey'], logins: true },
      passthrough: [{ prefix: '/app', upstream }],
    },
  })
  const linesOf = () => gateway.log.filter(({ stream }) => stream === 'audit')
  const get = async (path: string, user: string) => {
    const response = await fetch(gateway.origin + path, { headers: { authorization: authorizationOf(user) } })
    await response.arrayBuffer()
    await until(() => gateway.log.some(({ requestId }) => requestId === response.headers.get('x-request-id')))
  }
  for (let count = 0; count < 3; count += 1) await get(`${BASE}/process-definition/key/review/xml`, 'demo')
  await until(() => linesOf().length === 4)
  const read = {
    operation: 'getProcessDefinitionBpmn20XmlByKey',
    params: { key: 'review' },
    decision: 'permitted',
    rule: undefined,
  }
  t.match(linesOf(), [{ rule: 'login' }, read, read, read])
  t.ok(
    gateway.log.some(({ cache }) => String(cache).includes('hit')),
    'a response comes from the cache',
  )
  await get('/app/x', 'mary')
  await until(() => linesOf().length === 5)
  t.match(linesOf().at(-1), { user: 'mary', rule: 'login', prefix: '/app' })
})
