import t from 'tap'
import { idsOf } from '../sandbox/asks.ts'
import { type Answer, openGateway } from './open-gateway.ts'

const STOP = { body: { name: 'stopAll' } }

function sentOf({ forwarded }: Answer): readonly string[] {
  return forwarded.filter(({ method }) => method === 'POST').map(({ url }) => url)
}

t.test('a signal is refused to who may not wake one of those that wait for it', async (t) => {
  const { ask, engine } = await openGateway(t, { records: [] })
  const answer = await ask('nobody', 'POST /signal', STOP)
  t.match(answer, { status: 403, body: { type: 'AuthorizationException', userId: 'nobody' } })
  const waiting = await idsOf(engine.base, '/process-instance?processDefinitionKey=catching')
  t.match(answer.body, {
    missingAuthorizations: [
      { permissionName: 'UPDATE', resourceName: 'ProcessInstance', resourceId: waiting[0] },
      { permissionName: 'UPDATE_INSTANCE', resourceName: 'ProcessDefinition', resourceId: 'catching' },
    ],
  })
  t.same(sentOf(answer), [])
})

t.test('a right to one of two that wait is not enough', async (t) => {
  const { engine } = await openGateway(t)
  const [first] = await idsOf(engine.base, '/process-instance?processDefinitionKey=catching')
  const { ask } = await openGateway(t, { records: [`grant nobody PROCESS_INSTANCE:${first} UPDATE`] })
  const answer = await ask('nobody', 'POST /signal', STOP)
  t.equal(answer.status, 403)
  t.same(sentOf(answer), [])
})

t.test('a right to the process of all that wait is', async (t) => {
  const { ask } = await openGateway(t, {
    records: ['grant nobody PROCESS_DEFINITION:catching UPDATE_INSTANCE'],
  })
  const answer = await ask('nobody', 'POST /signal', STOP)
  t.equal(answer.status, 204)
  t.same(sentOf(answer), ['/engine-rest/signal'])
  t.equal(answer.forwarded.at(-1)?.body.toString(), JSON.stringify(STOP.body))
})

t.test('a signal that nobody waits for may be thrown by anybody', async (t) => {
  const { ask } = await openGateway(t, { records: [] })
  const answer = await ask('nobody', 'POST /signal', { body: { name: 'nobodyHears' } })
  t.equal(answer.status, 204)
  t.same(sentOf(answer), ['/engine-rest/signal'])
})

t.test('the execution that is named is the only one asked about', async (t) => {
  const { engine } = await openGateway(t)
  const [first] = await idsOf(engine.base, '/process-instance?processDefinitionKey=catching')
  const [execution] = await idsOf(engine.base, `/execution?activityId=catchSignal&processInstanceId=${first}`)
  const { ask } = await openGateway(t, { records: [`grant nobody PROCESS_INSTANCE:${first} UPDATE`] })
  const answer = await ask('nobody', 'POST /signal', { body: { name: 'stopAll', executionId: execution } })
  t.equal(answer.status, 204)
})

t.test('for who may do it to all, nothing is looked up', async (t) => {
  const { ask } = await openGateway(t)
  t.equal((await ask('demo', 'POST /signal', STOP)).forwarded.length, 1)
})
