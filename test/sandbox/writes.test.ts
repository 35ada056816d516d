import t from 'tap'
import type { Test } from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { exchange } from '../engine/exchange.ts'
import { idsOf, planOf } from './asks.ts'

async function open(t: Test): Promise<string> {
  const sandbox = await startSandbox()
  t.teardown(() => sandbox.close())
  return sandbox.base
}

void t.test('a submitted form starts an instance with a task and variables', async (t) => {
  const base = await open(t)
  const path = '/process-definition/key/review/submit-form'
  const variables = { title: { value: 'Report', type: 'String' } }
  const { body } = await exchange(base, { method: 'POST', path, body: { businessKey: 'new-1', variables } })
  const [id] = await idsOf(base, '/process-instance?businessKey=new-1')
  t.match(body, { id, links: [{ href: `${base}/process-instance/${id}` }], ended: false })
  t.equal((await idsOf(base, `/task?processInstanceId=${id}`)).length, 1)
  const stored = await exchange(base, { method: 'GET', path: `/process-instance/${id}/variables` })
  t.same(stored.body, {
    title: { type: 'String', value: 'Report', valueInfo: {} },
    amount: { type: 'Long', value: 10, valueInfo: {} },
    approved: { type: 'Boolean', value: false, valueInfo: {} },
  })
})

void t.test('a form with an invalid value starts no instance', async (t) => {
  const base = await open(t)
  const before = await idsOf(base, '/process-instance')
  const path = '/process-definition/key/review/submit-form'
  const answer = await exchange(base, { method: 'POST', path, body: { variables: { amount: { value: 0 } } } })
  t.equal(answer.status, 500)
  t.match(answer.body, {
    type: 'RestException',
    message: /form field 'amount': validation of min\(1\) failed/,
  })
  t.same(await idsOf(base, '/process-instance'), before)
})

void t.test('a task can be claimed by one user and completed once', async (t) => {
  const base = await open(t)
  const [id] = await idsOf(base, '/task?processInstanceBusinessKey=order-1')
  const [instanceId] = await idsOf(base, '/process-instance?businessKey=order-1')
  const post = (what: string, body: unknown) =>
    exchange(base, { method: 'POST', path: `/task/${id}/${what}`, body })
  t.equal((await post('claim', { userId: 'mary' })).status, 204)
  t.same(await idsOf(base, '/task?processInstanceBusinessKey=order-1&assignee=mary'), [id])
  t.equal((await post('claim', { userId: 'mary' })).status, 204)
  t.match(await post('claim', { userId: 'peter' }), {
    status: 500,
    body: {
      type: 'TaskAlreadyClaimedException',
      message: `Task '${id}' is already claimed by someone else.`,
      code: 0,
    },
  })
  t.equal((await post('complete', { variables: { approved: { value: true } } })).status, 204)
  t.same(await idsOf(base, '/task?processInstanceBusinessKey=order-1'), [])
  t.same(await idsOf(base, '/process-instance?businessKey=order-1'), [], 'the instance has ended with it')
  const ended = await exchange(base, { method: 'GET', path: `/history/process-instance/${instanceId}` })
  t.match(ended.body, { state: 'COMPLETED' })
  t.equal((await post('complete', {})).status, 500)
})

void t.test('a variable keeps its value and its type', async (t) => {
  const base = await open(t)
  const [id] = await idsOf(base, '/process-instance?businessKey=order-1')
  const path = `/process-instance/${id}/variables/amount`
  await exchange(base, { method: 'PUT', path, body: { value: 300, type: 'Long' } })
  t.same((await exchange(base, { method: 'GET', path })).body, { type: 'Long', value: 300, valueInfo: {} })
})

const untyped = [
  [3, 'Integer'],
  [3.5, 'Double'],
  [2 ** 40, 'Long'],
  ['x', 'String'],
  [true, 'Boolean'],
  [null, 'Null'],
] as const

void t.test('a variable without a type gets the type of its value', async (t) => {
  const base = await open(t)
  const [id] = await idsOf(base, '/process-instance?businessKey=order-1')
  for (const [value, type] of untyped) {
    const path = `/process-instance/${id}/variables/untyped`
    await exchange(base, { method: 'PUT', path, body: { value } })
    t.match((await exchange(base, { method: 'GET', path })).body, { type, value })
  }
})

void t.test('the discount depends on the amount, and each evaluation is stored in the history', async (t) => {
  const base = await open(t)
  const path = '/decision-definition/key/discount/evaluate'
  const before = await idsOf(base, '/history/decision-instance?decisionDefinitionKey=discount')
  for (const [amount, discount] of [
    [99, 0],
    [100, 10],
    [1000, 10],
  ] as const) {
    const { body } = await exchange(base, {
      method: 'POST',
      path,
      body: { variables: { amount: { value: amount } } },
    })
    t.match(body, [{ discount: { type: 'Integer', value: discount } }])
  }
  t.same((await exchange(base, { method: 'POST', path, body: {} })).body, [])
  const after = await idsOf(base, '/history/decision-instance?decisionDefinitionKey=discount')
  t.equal(after.length, before.length + 4)
})

void t.test('a signal reaches all its subscriptions once', async (t) => {
  const base = await open(t)
  const waiting = '/event-subscription?eventName=stopAll'
  const [id] = await idsOf(base, '/process-instance?processDefinitionKey=catching')
  t.equal((await idsOf(base, waiting)).length, 2)
  const body = { name: 'stopAll', variables: { reason: { value: 'stock-taking' } } }
  t.equal((await exchange(base, { method: 'POST', path: '/signal', body })).status, 204)
  t.same(await idsOf(base, waiting), [])
  const reason = await exchange(base, { method: 'GET', path: `/process-instance/${id}/variables/reason` })
  t.match(reason.body, { value: 'stock-taking' })
})

void t.test('an instance ends when its last execution continues', async (t) => {
  const base = await open(t)
  const [id] = await idsOf(base, '/process-instance?businessKey=catching-1')
  for (const execution of await idsOf(base, `/execution?processInstanceId=${id}`)) {
    if (execution === id) continue
    await exchange(base, { method: 'POST', path: `/execution/${execution}/signal`, body: {} })
  }
  t.equal((await exchange(base, { method: 'GET', path: `/process-instance/${id}` })).status, 404)
  const past = await exchange(base, { method: 'GET', path: `/history/process-instance/${id}` })
  t.match(past.body, { state: 'COMPLETED', endTime: String })
})

for (const path of ['/migration/execute', '/migration/executeAsync']) {
  void t.test(`${path} moves the instances and their tasks`, async (t) => {
    const base = await open(t)
    const versions = await idsOf(base, '/process-definition?key=moving')
    const [id, other] = await idsOf(base, '/process-instance?processDefinitionKey=moving')
    const body = { migrationPlan: planOf(versions), processInstanceIds: [id] }
    await exchange(base, { method: 'POST', path, body })
    t.same(await idsOf(base, `/process-instance?processDefinitionId=${versions[1]}`), [id])
    t.equal((await idsOf(base, `/task?processDefinitionId=${versions[1]}`)).length, 1)
    t.ok((await idsOf(base, `/process-instance?processDefinitionId=${versions[0]}`)).includes(String(other)))
  })
}

void t.test('an authorization is stored, and an equal one is refused', async (t) => {
  const base = await open(t)
  const body = { type: 1, permissions: ['READ'], userId: 'mary', resourceType: 6, resourceId: 'review' }
  const ask = { method: 'POST', path: '/authorization/create', body } as const
  t.equal((await exchange(base, ask)).status, 200)
  t.equal((await exchange(base, ask)).status, 500)
  const kept = await exchange(base, { method: 'GET', path: '/authorization?userIdIn=mary,peter' })
  t.match(kept.body, [{ userId: 'mary', groupId: null, permissions: ['READ'] }])
})
