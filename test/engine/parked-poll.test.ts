import t from 'tap'
import { bodyText } from '../../src/request/body.ts'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { engineSources, startGateway } from '../support/running-gateway.ts'
import { deployAll } from './deploy.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const ADMIN = 'demo:demo'
const ANNA = 'anna:annaSecret1'
const PROCESS_DEFINITION = 6
const GRANT = {
  type: 1,
  permissions: ['READ_INSTANCE', 'UPDATE_INSTANCE'],
  userId: 'anna',
  groupId: null,
  resourceType: PROCESS_DEFINITION,
  resourceId: 'external',
}
const POLL = {
  workerId: 'w',
  maxTasks: 1,
  asyncResponseTimeout: 60_000,
  topics: [{ topicName: 'work', lockDuration: 600_000 }],
}

t.test('a poll whose authorization record is deleted', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  await deployAll(async (method, path, body) => (await exchange(engine.base, { method, path, body })).body)
  const removeInstances = async () => {
    const { body } = await exchange(engine.base, { method: 'GET', path: '/process-instance' })
    for (const instance of Array.isArray(body) ? body : [])
      await exchange(engine.base, {
        method: 'DELETE',
        path: `/process-instance/${bodyText(instance, 'id') ?? ''}`,
      })
  }
  const gateway = await startGateway(t, engineSources(engine.base))
  const profile = { id: 'anna', firstName: 'a', lastName: 'a', email: 'a@example.org' }
  await gateway.ask(ADMIN, 'POST', '/user/create', { profile, credentials: { password: 'annaSecret1' } })

  /** Starts a poll that the engine holds, with the record that permits it. */
  async function park() {
    const { body } = await gateway.ask(ADMIN, 'POST', '/authorization/create', GRANT)
    const answer = gateway.ask(ANNA, 'POST', '/external-task/fetchAndLock', POLL)
    await until(async () =>
      /gateway_long_polls\{[^}]*state="open"[^}]*\} 1\n/.test((await gateway.admin('/metrics')).text),
    )
    return {
      answer,
      remove: () => gateway.ask(ADMIN, 'DELETE', `/authorization/${bodyText(body, 'id') ?? ''}`),
    }
  }
  async function begin() {
    const body = { variables: { secret: { value: 1 } } }
    const started = await exchange(engine.base, {
      method: 'POST',
      path: '/process-definition/key/external/start',
      body,
    })
    if (started.status !== 200) throw new Error(`${started.status}`)
  }
  const metrics = async () => (await gateway.admin('/metrics')).text
  async function tasks() {
    const { body } = await exchange(engine.base, { method: 'GET', path: '/external-task' })
    return body
  }
  const unlocked = [{ topicName: 'work', workerId: null, lockExpirationTime: null }]

  await t.test('a poll gets a task that is created while the record exists', async (t) => {
    const { answer, remove } = await park()
    await begin()
    t.match((await answer).body, [{ topicName: 'work' }])
    await remove()
    await removeInstances()
  })

  await t.test('a poll gets no task after its record was deleted, and the task is unlocked', async (t) => {
    const { answer, remove } = await park()
    t.equal((await remove()).status, 204)
    await begin()
    const { status, body } = await answer
    t.same({ status, body }, { status: 200, body: [] })
    await until(async () => /"workerId":null/.test(JSON.stringify(await tasks())), 20_000)
    t.match(await tasks(), unlocked)
    await removeInstances()
  })

  await t.test('a poll ends with an empty list when its record is deleted', async (t) => {
    const { answer, remove } = await park()
    await remove()
    t.same((await answer).body, [])
    await begin()
    // The engine locks the task for the poll that it still holds.
    await until(async () => /unlocked_total\{[^}]*result="unlocked"[^}]*\} 2\n/.test(await metrics()), 20_000)
    t.match(await tasks(), unlocked)
  })
})
