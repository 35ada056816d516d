import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const DEFINITIONS = [
  { id: 'work:1', key: 'work', tenantId: null },
  { id: 'work:2', key: 'work', tenantId: 'acme' },
  { id: 'work:3', key: 'work', tenantId: 'globex' },
  { id: 'rest:1', key: 'rest', tenantId: null },
]

interface Task {
  readonly id: string
  readonly topicName: string
  readonly processDefinitionId: string
  readonly processDefinitionKey: string
  readonly processInstanceId: string
  readonly tenantId: string | null
}

/** More tasks than one read returns. The visible tasks come last. */
const TASKS: readonly Task[] = [
  ...Array.from({ length: 1500 }, (_, at) => taskOf(at, 'busy', 'rest:1')),
  ...['seen', 'rest', 'globex', 'acme', 'SEEN'].map((topic, at) =>
    taskOf(
      2000 + at,
      topic,
      { rest: 'rest:1', globex: 'work:3', acme: 'work:2', SEEN: 'rest:1' }[topic] ?? 'work:1',
    ),
  ),
]

function taskOf(at: number, topicName: string, processDefinitionId: string): Task {
  const definition = DEFINITIONS.find(({ id }) => id === processDefinitionId)
  return {
    id: `t${String(at).padStart(5, '0')}`,
    topicName,
    processDefinitionId,
    processDefinitionKey: definition?.key ?? '',
    processInstanceId: `i${at}`,
    tenantId: definition?.tenantId ?? null,
  }
}

function answerOf(url: string): unknown {
  const { pathname, searchParams } = new URL(url, 'http://engine')
  const path = decodeURIComponent(pathname.slice(BASE.length))
  if (path === '/process-definition') {
    const from = Number(searchParams.get('firstResult') ?? 0)
    return DEFINITIONS.slice(from, from + Number(searchParams.get('maxResults') ?? 100))
  }
  if (path === '/external-task/topic-names') return [...new Set(TASKS.map(({ topicName }) => topicName))]
  if (path === '/process-instance/i7') return { id: 'i7', definitionId: 'rest:1', tenantId: null }
  if (path.startsWith('/process-definition/')) return DEFINITIONS.find(({ id }) => path.endsWith(`/${id}`))
  if (path !== '/external-task') return []
  const asked = (name: string, value: string) => (searchParams.get(name) ?? value).split(',').includes(value)
  const found = TASKS.filter(
    ({ topicName, processDefinitionId, processInstanceId }) =>
      asked('topicName', topicName) &&
      asked('processDefinitionId', processDefinitionId) &&
      asked('processInstanceIdIn', processInstanceId),
  )
  const from = Number(searchParams.get('firstResult'))
  return found.slice(from, from + Number(searchParams.get('maxResults')))
}

const open = (limits: object = {}) =>
  openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:work READ_INSTANCE',
      'grant anna PROCESS_INSTANCE:i7 READ',
      'grant ben PROCESS_DEFINITION:work READ_INSTANCE',
    ],
    settings: { limits },
    engine: ({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answerOf(url)))
    },
  })

const TOPICS = 'GET /external-task/topic-names'

t.test('with many tasks, each topic is queried for one task that the caller sees', async (t) => {
  const gateway = await open()
  const mary = await gateway.ask('mary', TOPICS)
  t.same([mary.status, mary.body], [200, ['seen', 'acme']], 'of the tenant acme and of none')
  t.ok(mary.forwarded.length < 40)
  t.same((await gateway.ask('ben', TOPICS)).body, ['seen'], 'a member of no tenant')
  t.same((await gateway.ask('anna', TOPICS)).body, ['busy'], 'one instance alone')
})

t.test('the flags of the query are sent to the list under the names of the list', async (t) => {
  const gateway = await open()
  const { forwarded } = await gateway.ask('mary', `${TOPICS}?withLockedTasks=true`)
  const lists = forwarded.map(({ url }) => url).filter((url) => url.includes('topicName='))
  t.ok(lists.length > 0)
  for (const url of lists) t.match(url, /locked=true/)
})

t.test('more topics than the limit of requests for a query are refused', async (t) => {
  const gateway = await open({ subqueries: 2 })
  const { status, headers } = await gateway.ask('mary', TOPICS)
  t.same([status, headers['x-gateway-error']], [403, 'GW_ITEMS_NOT_EXACT'])
})

t.test('a query for tasks that are both locked and not locked returns no topics', async (t) => {
  const { ask } = await openGateway(t, { engine: (_request, response) => response.writeHead(500).end() })
  const route = 'GET /external-task/topic-names?withLockedTasks=true&withUnlockedTasks=TRUE'
  const { status, body, forwarded } = await ask('demo', route)
  t.same([status, body, forwarded], [200, [], []])
})

t.test('a query with a parameter that the list of tasks may not have is refused', async (t) => {
  const { ask } = await open()
  const answer = await ask('mary', `${TOPICS}?newer=true`)
  t.match(answer, { status: 403, headers: { 'x-gateway-error': 'GW_ITEMS_NOT_EXACT' }, forwarded: [] })
})
