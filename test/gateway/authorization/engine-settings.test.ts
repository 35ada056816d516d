import t from 'tap'
import { openGateway, sandboxIds } from '../../support/open-gateway.ts'

const RECORDS = { source: 'file', file: 'records.yaml' } as const
const [instance = ''] = await sandboxIds(t, '/process-instance?processDefinitionKey=review')
const [task = ''] = await sandboxIds(t, `/task?processInstanceId=${instance}`)
const READS = [
  `/task/${task}?withTaskVariablesInReturn=true`,
  `/task/${task}?withTaskLocalVariablesInReturn=true`,
  `/task/${task}/variables`,
  `/task/${task}/variables/pages`,
  `/task/${task}/localVariables`,
  `/task/${task}/form-variables`,
  `/process-instance/${instance}/variables`,
  `/process-instance/${instance}/variables/pages`,
  `/execution/${instance}/localVariables`,
]

t.test('with specific variable permissions a reader of tasks and instances reads no variables', async (t) => {
  const { ask } = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:* READ_TASK,READ_INSTANCE,READ_HISTORY',
      `grant mary TASK:${task} READ,UPDATE`,
      `grant mary PROCESS_INSTANCE:${instance} READ`,
      'grant ben PROCESS_DEFINITION:review READ_TASK_VARIABLE,READ_INSTANCE_VARIABLE,READ_HISTORY_VARIABLE',
    ],
    settings: {
      authorization: { records: RECORDS, specificVariablePermissions: true },
      // The rule refuses variables in tasks before permissions are checked.
      validation: { allow: ['deserialization'] },
    },
    engines: { general: { authorization: { records: RECORDS, specificVariablePermissions: false } } },
  })
  for (const path of READS) {
    const refused = await ask('mary', `GET ${path}`)
    t.equal(refused.status, 403, path)
    t.same(
      refused.forwarded.filter(({ url }) => url.includes('ariables')),
      [],
      `no engine is asked for ${path}`,
    )
    t.not((await ask('ben', `GET ${path}`)).status, 403, path)
    t.not((await ask('mary', `GET /engine/general${path}`)).status, 403, 'the setting is of one engine')
  }
  t.equal((await ask('mary', `GET /task/${task}`)).status, 200, 'the task itself is read as before')
})

t.test(
  'a caller who may read the form of a task and not the task gets the failure of the engine',
  async (t) => {
    const { ask } = await openGateway(t, {
      records: [
        `grant ben TASK:${task} READ_VARIABLE`,
        `grant anna TASK:${task} READ_VARIABLE,READ`,
        `grant mary TASK:${task} READ`,
      ],
      settings: { authorization: { records: RECORDS, specificVariablePermissions: true } },
    })
    const path = `GET /task/${task}/form`
    const hidden = await ask('ben', path)
    t.match(hidden, {
      status: 500,
      body: { type: 'NullPointerException', message: /because "task" is null$/ },
    })
    t.same(
      hidden.forwarded.filter(({ url }) => url.endsWith('/form')),
      [],
      'the engine is not asked for the form',
    )
    t.match((await ask('anna', path)).forwarded.at(-1), { url: /\/form$/ })
    t.equal((await ask('mary', path)).status, 403)
  },
)

t.test('a process instance whose variables are refused is named in the words of the engine', async (t) => {
  const { ask } = await openGateway(t, {
    records: [],
    settings: { authorization: { records: RECORDS, specificVariablePermissions: true } },
  })
  t.match(await ask('mary', `GET /process-instance/${instance}/variables`), {
    status: 403,
    body: {
      message:
        "The user with id 'mary' does not have one of the following permissions: 'READ_INSTANCE_VARIABLE' permission on resource 'review' of type 'ProcessDefinition'",
      permissionName: 'READ_INSTANCE_VARIABLE',
    },
  })
})

/** An engine with one task, whose candidate is mary. */
async function openLinked(t: Parameters<typeof openGateway>[0], authorization: object) {
  const { ask } = await openGateway(t, {
    records: [],
    settings: { authorization: { records: RECORDS, ...authorization } },
    engine: ({ url, method }, response) => {
      const body = url.includes('/history/identity-link-log')
        ? [{ id: 'l1', taskId: 't1', userId: 'mary', type: 'candidate' }]
        : url.endsWith('/task/t1')
          ? { id: 't1', name: 'x', processDefinitionId: null, caseExecutionId: null, tenantId: null }
          : url.endsWith('/task')
            ? [{ id: 't1' }]
            : {}
      response.writeHead(method === 'POST' && url.includes('/t1/') ? 204 : 200, {
        'content-type': 'application/json',
      })
      response.end(method === 'POST' && url.includes('/t1/') ? undefined : JSON.stringify(body))
    },
  })
  const statusOf = async (route: string, body?: object) =>
    (await ask('mary', route, body === undefined ? {} : { body })).status
  return {
    read: await statusOf('GET /task/t1'),
    variables: await statusOf('GET /task/t1/variables'),
    complete: await statusOf('POST /task/t1/complete', {}),
    assign: await statusOf('POST /task/t1/assignee', { userId: 'ben' }),
  }
}

t.test('a link to a task grants what the settings of the engine say', async (t) => {
  const update = { read: 200, variables: 200, complete: 204, assign: 204 }
  t.same(await openLinked(t, {}), update)
  t.same(
    await openLinked(t, { implied: { taskPermission: 'TASK_WORK' } }),
    { ...update, assign: 403 },
    'TASK_WORK completes the task and does not assign it',
  )
  t.same(
    await openLinked(t, { specificVariablePermissions: true }),
    update,
    'the engine grants READ_VARIABLE as well',
  )
  t.same(await openLinked(t, { implied: { tasks: false } }), {
    read: 404,
    variables: 403,
    complete: 403,
    assign: 403,
  })
})
