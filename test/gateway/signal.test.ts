import t from 'tap'
import { bodyTexts } from '../../src/request/body.ts'
import { idsOf } from '../sandbox/asks.ts'
import { type Answer, BASE, openGateway, sandboxIds } from '../support/open-gateway.ts'

const STOP = { body: { name: 'stopAll' } }
const INSTANCES = '/process-instance?processDefinitionKey=catching'
const [first = '', second = ''] = await sandboxIds(t, INSTANCES)
const { ask, engine } = await openGateway(t, {
  records: [
    `grant ben PROCESS_INSTANCE:${first} UPDATE`,
    'grant anna PROCESS_DEFINITION:catching UPDATE_INSTANCE',
  ],
})

/** The signals that the engine was told of; look-ups are reads. */
function sentOf({ forwarded }: Answer): readonly string[] {
  return forwarded.filter(({ url }) => url === `${BASE}/signal`).map(({ body }) => body.toString())
}

t.test('a signal is refused to who may not wake one of those that wait for it', async (t) => {
  const answer = await ask('nobody', 'POST /signal', STOP)
  t.match(answer, { status: 403, body: { type: 'AuthorizationException', userId: 'nobody' } })
  t.match(answer.body, {
    missingAuthorizations: [
      { permissionName: 'UPDATE', resourceName: 'ProcessInstance', resourceId: first },
      { permissionName: 'UPDATE_INSTANCE', resourceName: 'ProcessDefinition', resourceId: 'catching' },
    ],
  })
  t.same(sentOf(answer), [])
})

t.test('a right to one of two that wait is not enough', async (t) => {
  const answer = await ask('ben', 'POST /signal', STOP)
  t.match(answer, { status: 403, body: { missingAuthorizations: [{ resourceId: second }, {}] } })
  t.same(sentOf(answer), [])
})

t.test('a signal that nobody waits for may be thrown by anybody', async (t) => {
  const answer = await ask('nobody', 'POST /signal', { body: { name: 'nobodyHears' } })
  t.equal(answer.status, 204)
  t.equal(sentOf(answer).length, 1)
})

t.test('the execution that is named is the only one asked about', async (t) => {
  const [execution] = await idsOf(engine.base, `/execution?activityId=catchSignal&processInstanceId=${first}`)
  const answer = await ask('ben', 'POST /signal', { body: { name: 'stopAll', executionId: execution } })
  t.equal(answer.status, 204)
  t.equal(sentOf(answer).length, 1)
})

t.test('a right to the process of all that wait is enough', async (t) => {
  const answer = await ask('anna', 'POST /signal', STOP)
  t.equal(answer.status, 204)
  t.same(sentOf(answer), [JSON.stringify(STOP.body)])
})

t.test('for who may do it to all, nothing is looked up', async (t) => {
  t.equal((await ask('demo', 'POST /signal', STOP)).forwarded.length, 1)
})

t.test('a signal that thousands wait for is decided, and leaves places for others meanwhile', async (t) => {
  const waiting = Array.from({ length: 3000 }, (_, at) => ({
    executionId: `e${at}`,
    processInstanceId: `p${at}`,
    tenantId: null,
  }))
  const busy = await openGateway(t, {
    records: ['grant anna PROCESS_DEFINITION:review UPDATE_INSTANCE', 'grant ben TASK:* READ'],
    engine: ({ url, body }, response) => {
      const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
      const instances = (): unknown =>
        bodyTexts(JSON.parse(String(body)), 'processInstanceIds').map((id) => ({
          id,
          definitionId: 'review:1',
          tenantId: null,
        }))
      const answers: Readonly<Record<string, unknown>> = {
        '/event-subscription': searchParams.has('eventName') ? waiting : [],
        '/process-instance': pathname === '/process-instance' && instances(),
        '/process-definition/review%3A1': { id: 'review:1', key: 'review', tenantId: null },
      }
      const { [pathname]: answer = pathname.startsWith('/task') ? [] : { processInstanceId: 'p0' } } = answers
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    },
  })
  const signal = busy.ask('anna', 'POST /signal', { body: { name: 'go' } })
  const others = Array.from({ length: 5 }, () => busy.ask('ben', 'GET /task'))
  for (const { status } of await Promise.all(others)) t.equal(status, 200)
  t.equal((await signal).status, 200)
  // The list, six look-ups for the instances, their definition, nothing that it starts, and the signal itself.
  t.ok(busy.engine.requests < 20, `${busy.engine.requests} requests`)
})
