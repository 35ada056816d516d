import t from 'tap'
import type { Test } from 'tap'
import { buildDryRun } from '../../src/gateway.ts'
import { createExplain, questionOf } from '../../src/pipeline/explain.ts'
import { textOfExplained } from '../../src/pipeline/explain-text.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { idsOf } from '../sandbox/asks.ts'
import { BASE, openGateway, sandboxIds } from '../support/open-gateway.ts'

async function openExplain(
  t: Test,
  records: readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
) {
  const gateway = await openGateway(t, { records, settings })
  const explain = createExplain(gateway.dependencies, buildDryRun)
  return {
    ...gateway,
    explain,
    why: (user: string, request: string, body?: unknown) => explain(questionOf({ user, request, body })),
  }
}

const STOP = { name: 'stopAll' }

t.test('every alternative is shown with the record that decides it', async (t) => {
  const { why, engine } = await openExplain(t, ['grant @clerks PROCESS_DEFINITION:review READ_TASK'])
  const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=review')
  const { decision, response, policy, principal } = await why('mary', `GET /task/${task}`)
  t.match({ decision, response }, { decision: 'permitted', response: null })
  t.same(principal, { userId: 'mary', groups: ['clerks'], tenants: ['acme'] })
  t.match(policy?.checks, [
    {
      check: 0,
      outcome: 'granted',
      decisions: [
        {
          permissions: [
            { permission: 'READ', resource: 'Task', resourceId: task, record: null },
            {
              permission: 'READ_TASK',
              resource: 'ProcessDefinition',
              resourceId: 'review',
              record: { level: 'group', subject: 'clerks', type: 1, resourceId: 'review', step: 5 },
            },
          ],
        },
      ],
    },
  ])
  t.match(policy, { missing: [], grants: [], sufficient: null })
})

t.test(
  'a refusal does not hide the checks after it, and the fewest sufficient grants are tried',
  async (t) => {
    const { why, ask, engine } = await openExplain(t, [])
    const waiting = await idsOf(engine.base, '/process-instance?processDefinitionKey=catching')
    const { decision, stage, response, policy } = await why('nobody', 'POST /signal', STOP)
    t.match({ decision, stage }, { decision: 'refused', stage: 'permit' })
    t.same(response?.body, (await ask('nobody', 'POST /signal', { body: STOP })).body)
    t.match(
      policy?.checks.map(({ outcome }) => outcome),
      ['refused', 'there is nothing to ask for', 'there is nothing to ask for'],
    )
    t.same(
      policy?.missing,
      waiting.flatMap((id, need) => [
        { permission: 'UPDATE', resource: 'ProcessInstance', resourceId: id, need },
        { permission: 'UPDATE_INSTANCE', resource: 'ProcessDefinition', resourceId: 'catching', need },
      ]),
    )
    t.match(policy, {
      grants: [
        { userId: 'nobody', resourceType: 6, resourceId: 'catching', permissions: ['UPDATE_INSTANCE'] },
      ],
      sufficient: true,
    })
  },
)

t.test('a check of several entities is refused if one of them is refused', async (t) => {
  const waiting = await sandboxIds(t, '/process-instance?processDefinitionKey=catching')
  t.ok(waiting.length > 1)
  for (const allowed of waiting) {
    const { why } = await openExplain(t, [`grant nobody PROCESS_INSTANCE:${allowed} UPDATE`])
    const { policy } = await why('nobody', 'POST /signal', STOP)
    t.equal(policy?.checks[0]?.outcome, 'refused')
    t.equal(policy?.checks[0]?.decisions.filter(({ outcome }) => outcome === 'granted').length, 1)
  }
})

t.test('the grants that explain names are sufficient for the request', async (t) => {
  const { why, engine } = await openExplain(t, [])
  const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=review')
  const request = `PUT /task/${task}`
  const { policy } = await why('nobody', request, { name: 'a' })
  t.equal(policy?.sufficient, true)
  const lines = (policy?.grants ?? []).map(
    ({ resourceType, resourceId, permissions }) =>
      `grant nobody ${resourceType === 7 ? 'TASK' : 'PROCESS_DEFINITION'}:${resourceId} ${permissions.join(',')}`,
  )
  t.match(
    policy?.checks.map(({ outcome }) => outcome),
    ['refused', 'refused'],
  )
  const granted = await openExplain(t, lines)
  const [same = ''] = await idsOf(granted.engine.base, '/task?processDefinitionKey=review')
  t.equal(same, task, 'the sandbox counts its ids')
  t.equal((await granted.ask('nobody', request, { body: { name: 'a' } })).status, 204)
})

t.test('a revocation ends the alternatives, and the alternatives after it are not offered', async (t) => {
  const { why, engine } = await openExplain(t, ['revoke nobody TASK:* READ'])
  const [task = ''] = await idsOf(engine.base, '/task?processDefinitionKey=review')
  const { policy } = await why('nobody', `GET /task/${task}`)
  t.match(policy?.checks[0]?.decisions[0]?.permissions[0], {
    record: { permitted: false, type: 2, resourceId: '*' },
  })
  t.match(policy?.missing, [{ permission: 'READ', resource: 'Task', resourceId: task }])
  t.equal(policy?.missing.length, 1)
  t.equal(policy?.sufficient, true)
})

t.test('an entity that does not exist is reported, and no permission is missing', async (t) => {
  const { why } = await openExplain(t, [])
  const { response, policy } = await why('nobody', 'GET /task/none')
  t.match(response, { status: 404, error: null, reason: 'not found by the look-up' })
  t.match(policy, { checks: [{ outcome: 'there is no such entity' }], missing: [], sufficient: null })
})

t.test('no record is offered for an operation that only administrators may use', async (t) => {
  const { why } = await openExplain(t, [])
  const row = OPERATIONS.find(
    ({ checks, template }) => checks.some(({ admin, anyOf }) => admin && !anyOf) && !template.includes(':'),
  )
  const request = `${row?.method} ${row?.template}`
  const refused = await why('nobody', request)
  t.match(refused.policy, { grants: [], sufficient: null })
  t.equal(refused.decision, 'refused')
  const { decision, policy } = await why('demo', request)
  t.equal(decision, 'permitted')
  t.equal(policy?.checks[0]?.outcome, 'granted')
})

t.test('a list is explained by the records that make its items visible', async (t) => {
  const { why } = await openExplain(t, ['grant @clerks PROCESS_DEFINITION:review READ_TASK'])
  const explained = await why('mary', 'GET /task')
  t.match(textOfExplained(explained), /visible to every user: items with a case\n/)
  t.match(explained.policy?.items, {
    sees: 'some items',
    tenants: ['acme'],
    conditions: [
      {
        anyOf: [
          { resource: 'Task', permission: 'READ', record: null, ids: [] },
          {
            resource: 'ProcessDefinition',
            permission: 'READ_TASK',
            record: null,
            ids: ['review'],
            idCount: 1,
          },
        ],
      },
    ],
  })
  t.match((await why('demo', 'GET /task')).policy?.items, { sees: 'all items', tenants: null })
})

t.test('a fetch of tasks is narrowed, whatever tasks the caller sees', async (t) => {
  const { why } = await openExplain(t, [
    'grant @clerks PROCESS_DEFINITION:review READ_INSTANCE,UPDATE_INSTANCE',
  ])
  const topics = [{ topicName: 'any', lockDuration: 1000 }]
  const request = 'POST /external-task/fetchAndLock'
  t.match((await why('mary', request, { workerId: 'w', maxTasks: 1, topics })).policy?.items, {
    sees: 'some items',
    plan: 'rewrite',
  })
})

t.test(
  'a refusal because of the body is reported first, in addition to the result of the permissions',
  async (t) => {
    const { why } = await openExplain(t, [])
    const hazard = await why('nobody', 'POST /task', { assigneeExpression: '${1}' })
    t.match(hazard, {
      stage: 'body',
      response: { status: 400, error: 'GW_HAZARD' },
      policy: { items: { sees: 'no items' } },
    })
    t.match(await why('nobody', 'POST /signal', '{"name":'), {
      stage: 'body',
      response: { error: 'GW_BAD_JSON' },
      policy: null,
    })
  },
)

t.test('explain names a mode that does not enforce', async (t) => {
  const { why } = await openExplain(t, [], { validation: { mode: 'off' } })
  t.same((await why('nobody', 'GET /task')).modes, { validation: 'off', authorization: 'enforce' })
})

t.test('a question that cannot be answered is rejected', async (t) => {
  const { why, explain } = await openExplain(t, [])
  await t.rejects(why('stranger', 'GET /task'), { message: 'Engine default has no user stranger' })
  await t.rejects(why('mary', 'GET /nothing'), { message: 'There is no operation GET /nothing' })
  await t.rejects(why('mary', 'PATCH /task'), /no operation/)
  await t.rejects(why('mary', 'GET /task/a%2Fb'), /no operation .*a%2Fb: The request target/)
  await t.rejects(explain(questionOf({ user: 'mary', engine: 'third', request: 'GET /task' })), {
    message: 'There is no engine third, but default, second',
  })
  for (const value of [null, 1, {}, { user: 'mary' }, { user: 1, request: 'GET /task' }])
    t.throws(() => questionOf(value), /^A question needs user/)
})

t.test(
  'the path may begin with the base, and its operation is the one that the router selects',
  async (t) => {
    const { why } = await openExplain(t, [])
    const ids = await Promise.all(
      ['GET /task/count', 'HEAD /task/count/', `GET ${BASE}/task/count`, 'get /task/a%20b'].map(
        async (request) => (await why('demo', request)).operation,
      ),
    )
    t.same(ids, ['getTasksCount', 'getTasksCount', 'getTasksCount', 'getTask'])
  },
)

t.test('no permission is checked for an open operation, and explain says that it is open', async (t) => {
  const identity = { source: 'file', file: 'users.yaml', open: ['verify'] }
  const ask = ['nobody', 'POST /identity/verify', { username: 'mary', password: 'mary' }] as const
  const open = await openExplain(t, [], { identity })
  t.match(await open.why(...ask), { open: true, decision: 'permitted', policy: null })
  t.match(textOfExplained(await open.why(...ask)), /\nopen: this request needs no credentials\n/)
  const closed = await openExplain(t, [])
  t.match(await closed.why(...ask), { open: false, decision: 'refused', policy: { checks: [{}] } })
})

t.test('the explanation of a filter names its owner', async (t) => {
  const gateway = await openGateway(t, {
    records: [],
    engine: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"id":"f1","owner":"mary"}')
    },
  })
  const explain = createExplain(gateway.dependencies, buildDryRun)
  const textFor = async (user: string, request: string) =>
    textOfExplained(await explain(questionOf({ user, request })))
  const single = 'GET /filter/f1'
  t.match(await textFor('mary', single), 'READ on Filter f1: granted to its owner, user mary (step 1)')
  t.match(await textFor('anna', single), 'READ on Filter f1: no record')
  const list = await textFor('mary', 'GET /filter')
  t.match(list, 'visible items: some\n  plan: one query for the visible items\n')
  t.match(list, 'visible to their owner: items of user mary')
})

t.test('the explanation of an implicit grant names what grants it', async (t) => {
  const { explain } = await openExplain(t, [])
  const reasons: readonly (readonly [request: string, reason: string])[] = [
    ['GET /user/mary/profile', 'READ on User mary: granted to themselves, user mary (step 1)'],
    ['GET /group/clerks', 'READ on Group clerks: granted by the membership in group clerks (step 5)'],
    ['GET /tenant/acme', 'READ on Tenant acme: granted by a membership of user mary (step 1)'],
  ]
  for (const [request, reason] of reasons)
    t.match(textOfExplained(await explain(questionOf({ user: 'mary', request }))), reason, request)
})
