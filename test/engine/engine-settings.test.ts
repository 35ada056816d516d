import { test } from 'tap'
import { createAdmin } from '../differential/admin.ts'
import { type EngineSettings, propertiesOf } from '../differential/engine-settings.ts'
import { openGateway } from '../differential/gateway.ts'
import { basicOf, createClient } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { type Answer, type Ask, exchange } from './exchange.ts'
import { type Seeded, seed } from './seed.ts'

const DEMO = { username: 'demo', password: 'demo' }
const SETTINGS: EngineSettings = { specificVariables: true, taskPermission: 'TASK_WORK' }
const [DEFINITION, TASK, INSTANCE] = [6, 7, 8]

/** The records of each caller. `general` has the permissions with which variables can be read if the settings are off. */
const CALLERS = {
  nothing: [],
  general: [
    { resourceType: DEFINITION, permissions: ['READ_TASK', 'READ_INSTANCE', 'READ_HISTORY'] },
    { resourceType: TASK, permissions: ['READ'] },
    { resourceType: INSTANCE, permissions: ['READ'] },
  ],
  specific: [
    {
      resourceType: DEFINITION,
      resourceId: 'review',
      permissions: ['READ_TASK_VARIABLE', 'READ_INSTANCE_VARIABLE', 'READ_HISTORY_VARIABLE'],
    },
  ],
  reader: [{ resourceType: TASK, permissions: ['READ_VARIABLE'] }],
  everything: [{ resourceType: DEFINITION, permissions: ['ALL'] }],
  /** A candidate of the task, to whom the engine grants the permissions automatically. */
  linked: [],
} as const

/** Reads of variables, and two requests that change the task: only the candidate may claim, and nobody else may assign. */
function requestsOf({ reviewInstanceId, taskId }: Seeded): readonly Ask[] {
  const reads = [
    `/task/${taskId}`,
    `/task/${taskId}/variables`,
    `/task/${taskId}/variables/pages`,
    `/task/${taskId}/localVariables`,
    `/task/${taskId}/form`,
    `/task/${taskId}/form-variables`,
    `/task/${taskId}/rendered-form`,
    `/process-instance/${reviewInstanceId}/variables`,
    `/process-instance/${reviewInstanceId}/variables/pages`,
    `/execution/${reviewInstanceId}/localVariables`,
    '/variable-instance?variableName=pages',
    '/variable-instance/count?variableName=pages',
    '/history/variable-instance?variableName=pages',
    '/history/variable-instance/count?variableName=pages',
    '/history/detail?variableUpdates=true&sortBy=time&sortOrder=asc',
    '/history/detail/count',
    `/history/task?taskId=${taskId}`,
  ]
  return [
    ...reads.map((path): Ask => ({ method: 'GET', path })),
    { method: 'POST', path: '/variable-instance', body: { variableName: 'pages' } },
    { method: 'POST', path: '/history/variable-instance', body: { variableName: 'pages' } },
    { method: 'POST', path: `/task/${taskId}/assignee`, body: { userId: 'demo' } },
    { method: 'POST', path: `/task/${taskId}/unclaim`, body: {} },
  ]
}

void test('the gateway follows the settings of an engine that change checks of variables and tasks', {
  skip: javaSkip,
}, async (t) => {
  // The gateway has the account of an administrator: the engine judges the direct requests of the callers alone.
  const engine = await startEngine({ secured: true, args: propertiesOf(SETTINGS, 'camunda') })
  t.teardown(() => engine.stop())
  const client = createClient(engine.base)
  t.teardown(() => client.close())
  const admin = createAdmin(client)
  const seeded = await seed(engine.base, { authorization: basicOf(DEMO.username, DEMO.password) })
  const users = Object.keys(CALLERS)
  for (const id of users) {
    const profile = { id, firstName: id, lastName: id, email: `${id}@test.example` }
    await admin.call('POST', '/user/create', { profile, credentials: { password: PASSWORD } })
  }
  const records = Object.entries(CALLERS).flatMap(([userId, own]) =>
    own.map((record) => ({ type: 1, userId, groupId: null, resourceId: '*', ...record })),
  )
  for (const record of records) await admin.call('POST', '/authorization/create', record)
  await admin.call('POST', `/task/${seeded.taskId}/identity-links`, { userId: 'linked', type: 'candidate' })
  const gateway = await openGateway(engine.base, {
    sets: users.map(setOf),
    records,
    implied: true,
    engineSettings: SETTINGS,
    adminGroup: 'camunda-admin',
    engine: { credentials: DEMO },
  })
  t.teardown(() => gateway.close())
  const statuses = new Map<number, number>()
  for (const user of users)
    for (const ask of requestsOf(seeded)) {
      const credentials = { authorization: basicOf(user, PASSWORD) }
      const expected = await exchange(engine.base, ask, credentials)
      const actual = await exchange(gateway.base, ask, credentials)
      t.same(shownOf(actual), shownOf(expected), `${user} ${ask.method} ${ask.path}`)
      statuses.set(expected.status, (statuses.get(expected.status) ?? 0) + 1)
    }
  t.comment(Object.fromEntries(statuses))
  for (const status of [200, 204, 403])
    t.ok((statuses.get(status) ?? 0) >= 2, `responses with status ${status}`)
})

function setOf(user: string, index: number) {
  const none = { group: '', ownGroups: [], joins: [], tenants: [], links: [], records: [], plans: [] }
  return { ...none, index, user, password: PASSWORD }
}

function shownOf({ status, body }: Answer) {
  return { status, body: body instanceof Buffer ? body.toString() : body }
}
