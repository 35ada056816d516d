import { BasicAuthInterceptor, Client } from 'camunda-external-task-client-js'
import { test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

void test('the JavaScript client completes a task of a named engine through the gateway', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  const base = `${engine.base}/engine/second`
  const { externalInstanceId } = await seed(base)
  const client = new Client({
    baseUrl: `${gateway.base}/engine/second`,
    interceptors: new BasicAuthInterceptor({ username: 'demo', password: 'demo' }),
    asyncResponseTimeout: 5000,
    autoPoll: false,
  })
  t.teardown(() => client.stop())
  const completed = new Promise<string | undefined>((resolve, reject) => {
    client.subscribe('work', ({ task, taskService }) => {
      taskService.complete(task).then(() => resolve(task.processInstanceId), reject)
    })
    client.on('poll:error', reject)
  })
  client.start()
  t.equal(await completed, externalInstanceId)
  const { body } = await exchange(base, {
    method: 'GET',
    path: `/history/process-instance/${externalInstanceId}`,
  })
  t.match(body, { state: 'COMPLETED' })
})
