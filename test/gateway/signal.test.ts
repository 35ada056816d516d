import t from 'tap'
import { idsOf } from '../sandbox/asks.ts'
import { type Answer, openGateway, sandboxIds } from './open-gateway.ts'

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
  return forwarded.filter(({ method }) => method === 'POST').map(({ body }) => body.toString())
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
