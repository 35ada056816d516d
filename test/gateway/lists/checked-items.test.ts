import t from 'tap'
import { type Answer, openGateway } from '../../support/open-gateway.ts'

const REVIEW = { id: 'review:1', key: 'review', tenantId: null }
const task = (id: string, members: object) => ({
  id,
  name: id,
  processDefinitionId: null,
  processInstanceId: null,
  executionId: null,
  caseExecutionId: null,
  tenantId: null,
  variables: { secret: { type: 'String', value: 'seen' } },
  ...members,
})
const OF_PROCESS = task('of-process', {
  processDefinitionId: REVIEW.id,
  processInstanceId: 'i1',
  executionId: 'i1',
})
const OF_CASE = task('of-case', { caseExecutionId: 'c1' })
const ALONE = task('alone', {})
const LINKED = task('linked', {})
const MEMBERS = ['withTaskVariablesInReturn', 'withTaskLocalVariablesInReturn']

/** Opens a gateway in front of an engine that lists these tasks to every user. */
async function open(tasks: readonly { readonly id: string }[], mode = 'enforce') {
  const { ask } = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:* READ_TASK',
      'grant ben PROCESS_DEFINITION:* READ_TASK',
      'grant ben TASK:* READ',
      'grant anna PROCESS_DEFINITION:* READ_TASK',
      'grant anna TASK:alone READ',
    ],
    settings: {
      authorization: { mode, tenants: 'ignore', records: { source: 'file', file: 'records.yaml' } },
      validation: { allow: ['deserialization'] },
    },
    hasLinks: true,
    engine: ({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answerTo(url, tasks)))
    },
  })
  return ask
}

/** Mary has one link in the history, which was not removed. */
function linksOf(url: string): unknown {
  return url.includes('/count') ? { count: url.includes('userId=mary') ? 1 : 0 } : []
}

function answerTo(url: string, tasks: readonly { readonly id: string }[]): unknown {
  if (url.includes('/identity-link-log')) return linksOf(url)
  if (url.includes('/count')) return { count: 0 }
  if (url.includes('/process-definition/')) return REVIEW
  if (url.includes('/process-definition?')) return [REVIEW]
  if (url.includes('involvedUser=')) return url.includes('involvedUser=mary') ? [LINKED] : []
  const [, one] = /\/task\/(\w[\w-]*)/.exec(url) ?? []
  return one === undefined ? tasks : tasks.find(({ id }) => id === one)
}

const requestsFor = (member: string) =>
  [
    ['POST /task', { body: { [member]: true } }],
    ['POST /task?maxResults=1', { body: { [member]: 'TRUE' } }],
    ['POST /task', { body: { [member]: 1 } }],
    [`GET /task?${member}=true`, {}],
    [`GET /task?${member}=1`, {}],
  ] as const

function isRefused(answer: Answer, id: string): boolean {
  const { type, resourceName, resourceId, permissionName } = Object(answer.body)
  return (
    answer.status === 403 &&
    JSON.stringify([type, resourceName, resourceId, permissionName]) ===
      JSON.stringify(['AuthorizationException', 'Task', id, 'READ'])
  )
}

t.test('variables in a task list need the permission of the operation that reads them', async (t) => {
  const ask = await open([OF_PROCESS, OF_CASE, ALONE])
  for (const member of MEMBERS)
    for (const [route, request] of requestsFor(member)) {
      const what = `${route} ${JSON.stringify(request)}`
      const refused = await ask('mary', route, request)
      t.ok(isRefused(refused, ALONE.id), `${what}: ${refused.bytes.toString()}`)
      t.notMatch(refused.bytes.toString(), /seen/, what)
      for (const user of ['ben', 'anna'])
        t.match(await ask(user, route, request), { status: 200, body: { length: 3 } }, `${user}: ${what}`)
    }
})

t.test('a HEAD for a list with variables is checked like the GET', async (t) => {
  const ask = await open([OF_PROCESS, OF_CASE, ALONE])
  const route = 'HEAD /task?withTaskVariablesInReturn=true'
  t.equal((await ask('mary', route)).status, 403)
  for (const user of ['ben', 'anna']) {
    const { status, forwarded } = await ask(user, route)
    t.equal(status, 200, user)
    t.notOk(
      forwarded.some(({ method }) => method === 'HEAD'),
      user,
    )
  }
})

t.test('a list is sent without a check of its items if the query adds no variables', async (t) => {
  const ask = await open([ALONE])
  for (const [route, request] of [
    ['POST /task', { body: { withTaskVariablesInReturn: false } }],
    [
      'POST /task',
      { body: { withTaskVariablesInReturn: null, orQueries: [{ withTaskVariablesInReturn: true }] } },
    ],
    ['GET /task?withTaskVariablesInReturn=false', {}],
    ['GET /task', {}],
    ['GET /task/count?withTaskVariablesInReturn=true', {}],
  ] as const)
    t.equal((await ask('mary', route, request)).status, 200, `${route} ${JSON.stringify(request)}`)
})

t.test('a task of a process, of a case or of the caller is permitted without a lookup', async (t) => {
  const ask = await open([OF_PROCESS, OF_CASE, LINKED])
  const answer = await ask('mary', 'POST /task', { body: { withTaskVariablesInReturn: true } })
  t.match(answer, { status: 200, body: { length: 3 } })
  t.same(
    answer.forwarded.filter(({ url }) => /\/task\/./.test(url)),
    [],
  )
})

t.test('variables of a single task need the permission of the operation that reads them', async (t) => {
  const ask = await open([ALONE])
  for (const member of MEMBERS) {
    for (const flag of ['true', 'TRUE']) {
      const refused = await ask('mary', `GET /task/alone?${member}=${flag}`)
      t.ok(isRefused(refused, ALONE.id), `${member}=${flag}: ${refused.bytes.toString()}`)
    }
    for (const query of ['', `?${member}=false`, `?${member}=1`])
      t.match(await ask('mary', `GET /task/alone${query}`), { status: 200 }, query)
    t.match(await ask('anna', `GET /task/alone?${member}=true`), { status: 200 })
  }
})

t.test('a response that is not a list of tasks is refused with 502', async (t) => {
  for (const body of [{ variables: 1 }, [1]]) {
    const { ask } = await openGateway(t, {
      settings: { validation: { allow: ['deserialization'] } },
      engine: ({ url }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(/\/task(\?|$)/.test(url) ? body : { count: 0 }))
      },
    })
    t.match(await ask('demo', 'POST /task', { body: { withTaskVariablesInReturn: true } }), { status: 502 })
  }
})

t.test('mode `report` sends the list, and mode `off` checks nothing', async (t) => {
  for (const mode of ['report', 'off']) {
    const ask = await open([ALONE], mode)
    t.match(
      await ask('mary', 'POST /task', { body: { withTaskVariablesInReturn: true } }),
      { status: 200 },
      mode,
    )
  }
})
