import t from 'tap'
import { isRecord } from '../../../src/request/value.ts'
import { type Answer, openGateway } from '../../support/open-gateway.ts'

// Otherwise the gateway refuses the variables of tasks.
const settings = { validation: { allow: ['deserialization'] } }
const { ask } = await openGateway(t, { settings })

/** Returns the task queries that the engine received. Requests for the links of the caller are not included. */
function sentOf({ forwarded }: Answer): string[] {
  return forwarded
    .filter(({ url }) => /\/engine-rest\/task(\/count)?(\?|$)/.test(url) && !url.includes('involvedUser='))
    .map(({ method, url }) => `${method} ${url}`)
}

function keysOf({ body }: Answer): readonly string[] {
  if (!Array.isArray(body)) throw new Error(JSON.stringify(body))
  const ids = body.map((task: unknown) => (isRecord(task) ? String(task['processDefinitionId']) : ''))
  return [...new Set(ids.map((id) => id.split(':')[0] ?? ''))].sort()
}

t.test('an unknown parameter is sent to the engine, and the tasks are filtered', async (t) => {
  for (const query of ['likePatternIgnoreCase=true', 'withTaskVariablesInReturn=1', 'name=Review&x=a%20b']) {
    const listed = await ask('mary', `GET /task?${query}`)
    t.equal(listed.status, 200, query)
    const sent = sentOf(listed)
    t.ok(sent.length > 0 && sent.every((one) => one.startsWith('GET /engine-rest/task?')), query)
    for (const pair of query.split('&'))
      t.ok(
        sent.every((one) => one.replaceAll('+', '%20').includes(pair)),
        `${pair} in ${sent.join(' ')}`,
      )
  }
  const { body } = await ask('mary', 'GET /task/count?likePatternIgnoreCase=true')
  t.same(body, (await ask('mary', 'GET /task/count')).body)
  t.same(keysOf(await ask('mary', 'GET /task?likePatternIgnoreCase=true')), ['review'])
})

t.test('a count with an unknown parameter is not computed from a query without it', async (t) => {
  const sent = sentOf(await ask('mary', 'GET /task/count?likePatternIgnoreCase=true'))
  t.ok(sent.length > 0)
  t.ok(
    sent.every((one) => one.includes('likePatternIgnoreCase=true')),
    sent.join(' '),
  )
})

t.test('parameters of newer engines become members of the rewritten query', async (t) => {
  const query = 'taskDefinitionKeyNotIn=a,b&withTaskVariablesInReturn=false'
  for (const path of ['/task', '/task/count']) {
    const { forwarded } = await ask('mary', `GET ${path}?${query}`)
    const sent = forwarded.find(({ url }) => url === `/engine-rest${path}`)
    t.match(sent, { method: 'POST' }, path)
    t.match(
      JSON.parse(String(sent?.body)),
      { taskDefinitionKeyNotIn: ['a', 'b'], withTaskVariablesInReturn: false, orQueries: [Object] },
      path,
    )
  }
})

t.test('unknown members stay in the body, and in its or-blocks', async (t) => {
  const body = { taskDefinitionKeyNotIn: ['a'], newer: 1, orQueries: [{ newer: 2, name: 'Review' }] }
  const { forwarded } = await ask('mary', 'POST /task', { body })
  t.match(JSON.parse(String(forwarded.at(-1)?.body)), body)
})

t.test(
  'the engine validates the query of a caller who sees nothing if the gateway has not validated all of it',
  async (t) => {
    const refusal = { type: 'InvalidRequestException', message: 'two of them', code: null }
    const refusing = await openGateway(t, {
      settings,
      engine: (_request, response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(refusal)),
    })
    for (const route of [
      'GET /task?priority=x&unassigned=x',
      'GET /task/count?priority=x&unassigned=x',
      'GET /task?withTaskVariablesInReturn=x',
      'GET /task?priority=5&newer=x',
    ])
      t.match(
        await refusing.ask('nobody', route),
        { status: 400, body: refusal, forwarded: [{ method: 'GET' }] },
        route,
      )
    for (const body of [{ withTaskVariablesInReturn: {} }, { orQueries: [{ newer: {} }] }])
      t.match(
        await refusing.ask('nobody', 'POST /task', { body }),
        { status: 400, body: refusal },
        JSON.stringify(body),
      )
  },
)
