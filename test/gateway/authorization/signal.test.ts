import t from 'tap'
import { bodyTexts } from '../../../src/request/body.ts'
import { idsOf } from '../../sandbox/asks.ts'
import { type Answer, BASE, openGateway, sandboxIds } from '../../support/open-gateway.ts'

const STOP = { body: { name: 'stopAll' } }
const INSTANCES = '/process-instance?processDefinitionKey=catching'
const [first = '', second = ''] = await sandboxIds(t, INSTANCES)
const { ask, engine } = await openGateway(t, {
  records: [
    `grant ben PROCESS_INSTANCE:${first} UPDATE`,
    'grant anna PROCESS_DEFINITION:catching UPDATE_INSTANCE',
  ],
})

/** Returns the signals that the engine received. Lookups are not included. */
function sentOf({ forwarded }: Answer): readonly string[] {
  return forwarded.filter(({ url }) => url === `${BASE}/signal`).map(({ body }) => body.toString())
}

t.test('a signal is refused for a caller who may not update one of the waiting instances', async (t) => {
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

t.test('a permission on one of two waiting instances is not sufficient', async (t) => {
  const answer = await ask('ben', 'POST /signal', STOP)
  t.match(answer, { status: 403, body: { missingAuthorizations: [{ resourceId: second }, {}] } })
  t.same(sentOf(answer), [])
})

t.test('a signal without waiting instances may be thrown by every caller', async (t) => {
  const answer = await ask('nobody', 'POST /signal', { body: { name: 'nobodyHears' } })
  t.equal(answer.status, 204)
  t.equal(sentOf(answer).length, 1)
})

t.test('only the execution that the signal names is checked', async (t) => {
  const [execution] = await idsOf(engine.base, `/execution?activityId=catchSignal&processInstanceId=${first}`)
  const answer = await ask('ben', 'POST /signal', { body: { name: 'stopAll', executionId: execution } })
  t.equal(answer.status, 204)
  t.equal(sentOf(answer).length, 1)
})

t.test('a permission on the process definition of all waiting instances is sufficient', async (t) => {
  const answer = await ask('anna', 'POST /signal', STOP)
  t.equal(answer.status, 204)
  t.same(sentOf(answer), [JSON.stringify(STOP.body)])
})

t.test('a caller with the permission on all instances causes no lookup', async (t) => {
  t.equal((await ask('demo', 'POST /signal', STOP)).forwarded.length, 1)
})

t.test(
  'a signal with thousands of waiting instances is decided, and other requests are served meanwhile',
  async (t) => {
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
        const { [pathname]: answer = pathname.startsWith('/task') ? [] : { processInstanceId: 'p0' } } =
          answers
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      },
    })
    const signal = busy.ask('anna', 'POST /signal', { body: { name: 'go' } })
    const others = Array.from({ length: 5 }, () => busy.ask('ben', 'GET /task'))
    for (const { status } of await Promise.all(others)) t.equal(status, 200)
    t.equal((await signal).status, 200)
    // The requests are the list, six lookups of instances, one of their definition, one of what the signal starts (nothing), and the signal.
    t.ok(busy.engine.requests < 20, `${busy.engine.requests} requests`)
  },
)
