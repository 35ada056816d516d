import t, { type Test } from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const TASKS = [
  { id: 't1', processDefinitionId: 'review:1', processDefinitionKey: 'review', tenantId: null },
  { id: 't2', processDefinitionId: null, caseExecutionId: 'c', caseDefinitionId: 'care:1', tenantId: null },
]

/** Opens a gateway whose engine has case definitions with these keys. */
function openWith(t: Test, keys: readonly string[]) {
  return openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:review READ_TASK',
      'grant mary TASK:t9 READ',
      'grant ben PROCESS_DEFINITION:review READ_TASK',
      'revoke ben PROCESS_DEFINITION:other READ_TASK',
      'grant anna PROCESS_DEFINITION:* READ_TASK',
      'revoke anna PROCESS_DEFINITION:other READ_TASK',
    ],
    engine: ({ url }, response) => {
      const { pathname } = new URL(url, 'http://engine')
      const answers: Readonly<Record<string, unknown>> = {
        '/case-definition/count': { count: keys.length },
        '/case-definition': keys.map((key) => ({ id: `${key}:1`, key })),
        '/task': TASKS,
        '/process-definition/review%3A1': { id: 'review:1', key: 'review', tenantId: null },
      }
      const answer = answers[pathname.slice(BASE.length)]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? []))
    },
  })
}

/** Returns the or-blocks that the gateway sends to the engine, or null if the gateway requests all tasks. */
async function blocksFor({ ask }: Awaited<ReturnType<typeof openWith>>, user: string): Promise<unknown> {
  const { forwarded } = await ask(user, 'GET /task')
  const asked = forwarded.findLast(({ url }) => url.slice(BASE.length).startsWith('/task'))
  const query = JSON.parse(asked?.body.toString() || 'null')
  return query === null ? null : query.orQueries
}

const REVIEW = { processDefinitionKeyIn: ['review'] }

t.test('tasks of cases are requested in addition to the tasks that the records name', async (t) => {
  const gateway = await openWith(t, ['care'])
  const caseDefinitionKey = 'care'
  const ofNone = { withoutTenantId: true }
  t.match(await blocksFor(gateway, 'mary'), [{ ...REVIEW, taskIdIn: ['t9'], caseDefinitionKey }])
  t.same(await blocksFor(gateway, 'ben'), [{ ...REVIEW, caseDefinitionKey }, ofNone])
  t.same(await blocksFor(gateway, 'nobody'), [{ caseDefinitionKey }, ofNone])
})

t.test(
  'grants of single keys narrow the query; a grant of all keys with a revocation does not',
  async (t) => {
    const gateway = await openWith(t, [])
    t.match(await blocksFor(gateway, 'ben'), [REVIEW])
    t.equal(await blocksFor(gateway, 'anna'), null)
  },
)

t.test('all tasks are requested if case definitions have several keys', async (t) => {
  const gateway = await openWith(t, ['care', 'cure'])
  for (const user of ['mary', 'ben', 'nobody']) t.equal(await blocksFor(gateway, user), null, user)
  t.match((await gateway.ask('nobody', 'GET /task')).body, [{ id: 't2' }])
})
