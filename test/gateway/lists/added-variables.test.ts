import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { type Answer, openGateway, type Seen } from '../../support/open-gateway.ts'

const REVIEW = { id: 'review:1', key: 'review', tenantId: null }
/** The digits of this number are lost if it is parsed and written again. */
const VARIABLES = '{"amount": {"type": "Long", "value": 9007199254740993, "valueInfo": {}}}'
const LOCAL = '{"local":{"type":"Object","value":"rO0AB","valueInfo":{"objectTypeName":"x"}}}'
const taskOf = (id: string) => ({
  id,
  processDefinitionId: REVIEW.id,
  processInstanceId: 'i1',
  executionId: 'i1',
  caseExecutionId: null,
  tenantId: null,
})
const TASKS = [taskOf('one'), taskOf('none'), taskOf('two')]
const ADDED = /with(?:Task|%54ask)\w*VariablesInReturn/i
/** The request with which the gateway learns whether the engine adds variables. The engine refuses it before it reads anything. */
const PROBE = '{"withTaskVariablesInReturn":[]}'

/** How the engine of a test differs from one that adds variables to tasks. */
interface EngineFacts {
  readonly ignoresMembers?: boolean
  readonly tasks?: readonly ReturnType<typeof taskOf>[]
  /** The status of the response to a read of variables. */
  readonly status?: number
}

async function open(facts: EngineFacts = {}, mode = 'enforce') {
  const { ask } = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:review READ_TASK',
      'grant ben TASK:* READ',
      'grant anna TASK:one READ',
    ],
    settings: {
      authorization: { mode, tenants: 'ignore', records: { source: 'file', file: 'records.yaml' } },
    },
    engine: (request, response) => {
      const [status, text] = answerTo(request, facts)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text)
    },
  })
  return ask
}

type Told = readonly [status: number, text: string]

function answerTo(request: Seen, facts: EngineFacts): Told {
  const { url, body } = request
  if (String(body) === PROBE) return [facts.ignoresMembers === true ? 200 : 400, '[]']
  // No task is linked to the callers.
  if (url.includes('/history/task')) return [200, '[]']
  return variablesAt(url, facts) ?? definitionsAt(url) ?? tasksAt(request, facts)
}

function variablesAt(url: string, { status = 200 }: EngineFacts): Told | null {
  const [, id, kind] = /\/task\/(\w+)\/(variables|localVariables)/.exec(url) ?? []
  if (kind === undefined) return null
  if (status !== 200) return [status, '{"type":"RestException","message":"gone","code":0}']
  if (id === 'none') return [200, '{}']
  return [200, kind === 'variables' ? VARIABLES : LOCAL]
}

function definitionsAt(url: string): Told | null {
  if (url.includes('/count')) return [200, '{"count":0}']
  if (url.includes('/process-definition/')) return [200, JSON.stringify(REVIEW)]
  if (url.includes('/process-definition?')) return [200, JSON.stringify([REVIEW])]
  return url.includes('/history/task?') ? [200, '[]'] : null
}

function tasksAt({ url, body }: Seen, { tasks = TASKS }: EngineFacts): Told {
  const [, one] = /\/task\/(\w+)/.exec(url) ?? []
  if (one !== undefined) return [200, JSON.stringify(tasks.find(({ id }) => id === one) ?? null)]
  // The gateway restricts the query to the tasks that a caller sees.
  const isOne = String(body).includes('"taskIdIn":["one"]')
  return [200, JSON.stringify(isOne ? tasks.slice(0, 1) : tasks)]
}

function addedIn(forwarded: readonly Seen[]): readonly Seen[] {
  return forwarded.filter(
    ({ url, body }) => (ADDED.test(url) || ADDED.test(String(body))) && String(body) !== PROBE,
  )
}

function variablesIn({ body }: Answer): unknown {
  return Array.isArray(body) ? body.map(variablesOf) : variablesOf(body)
}

function variablesOf(task: unknown): unknown {
  return isRecord(task) ? (task['variables'] ?? null) : 'no task'
}

const REQUESTS = [
  ['GET /task?withTaskVariablesInReturn=true', {}],
  ['GET /task?%77ithTaskVariablesInReturn=true&name=x', {}],
  ['GET /task?withTaskVariablesInReturn=true&withTaskVariablesInReturn=true', {}],
  ['GET /task?withTaskVariablesInReturn=true&withTaskLocalVariablesInReturn=true', {}],
  ['POST /task', { body: { withTaskVariablesInReturn: true } }],
  [
    'POST /task',
    {
      body: '{"withT\\u0061skVariablesInReturn": "true", "name": "x"}',
      headers: { 'content-type': 'application/json' },
    },
  ],
] as const

t.test('the engine never gets a request for tasks with variables, and the response has them', async (t) => {
  const ask = await open()
  for (const user of ['demo', 'mary', 'ben', 'anna'])
    for (const [route, request] of REQUESTS) {
      const answer = await ask(user, route, request)
      const what = `${user}: ${route} ${JSON.stringify(request)}`
      t.equal(answer.status, 200, `${what} ${answer.bytes.toString()}`)
      t.same(addedIn(answer.forwarded), [], what)
      const one = JSON.parse(VARIABLES)
      t.same(variablesIn(answer), user === 'anna' ? [one] : [one, null, one], what)
      t.ok(answer.bytes.includes('9007199254740993'), 'the bytes of the engine')
      t.notOk(answer.bytes.includes('"variables": {}'), 'a task without variables has no member')
      const reads = answer.forwarded.filter(({ url }) => url.includes('/variables'))
      t.ok(
        reads.every(({ url }) => url.endsWith('/variables?deserializeValues=false')),
        what,
      )
    }
})

t.test('a single task and local variables are served in the same way', async (t) => {
  const ask = await open()
  const variables = await ask('anna', 'GET /task/one?withTaskVariablesInReturn=true')
  t.same(variablesIn(variables), JSON.parse(VARIABLES))
  t.same(addedIn(variables.forwarded), [])
  for (const route of [
    'GET /task/one?withTaskLocalVariablesInReturn=true',
    'GET /task?withTaskLocalVariablesInReturn=true',
  ]) {
    const local = await ask('anna', route)
    const [first] = [variablesIn(local)].flat()
    t.same(first, JSON.parse(LOCAL), 'an object is its stored text')
    t.same(addedIn(local.forwarded), [])
  }
  t.match(await ask('anna', 'GET /task/two?withTaskVariablesInReturn=true'), { status: 404 })
})

t.test('an engine that does not know the members adds nothing, and is asked once a minute', async (t) => {
  const ask = await open({ ignoresMembers: true })
  const first = await ask('demo', 'GET /task?withTaskVariablesInReturn=true')
  t.same(variablesIn(first), [null, null, null])
  t.equal(first.forwarded.filter(({ body }) => String(body) === PROBE).length, 1)
  const second = await ask('demo', 'GET /task?withTaskVariablesInReturn=true')
  t.equal(second.forwarded.length, 1)
})

t.test('a task whose variables cannot be read refuses the whole list, as in the engine', async (t) => {
  const ask = await open({ status: 500 })
  const answer = await ask('demo', 'POST /task', { body: { withTaskVariablesInReturn: true } })
  t.match(answer, { status: 500, body: { message: 'gone' } })
})

t.test('more than 1,000 tasks with variables are refused, and no variable is read', async (t) => {
  const ask = await open({ tasks: Array.from({ length: 1001 }, (_, index) => taskOf(`t${index}`)) })
  const answer = await ask('demo', 'GET /task?withTaskVariablesInReturn=true')
  t.match(answer, { status: 400, headers: { 'x-gateway-error': 'GW_HAZARD' } })
  t.notOk(answer.forwarded.some(({ url }) => url.includes('/variables')))
})

t.test('a caller without any task gets an empty list', async (t) => {
  const ask = await open()
  for (const [route, request] of REQUESTS) {
    const answer = await ask('nobody', route, request)
    t.match(answer, { status: 200, body: [] }, route)
    // The engine may validate the query, but reads no task.
    t.same(
      addedIn(answer.forwarded).filter(({ url }) => !url.endsWith('maxResults=0')),
      [],
    )
  }
})

t.test('the variables are added without authorization, too', async (t) => {
  const ask = await open({}, 'off')
  const answer = await ask('nobody', 'GET /task?withTaskVariablesInReturn=true')
  t.same(addedIn(answer.forwarded), [])
  t.same(variablesIn(answer), [JSON.parse(VARIABLES), null, JSON.parse(VARIABLES)])
})
