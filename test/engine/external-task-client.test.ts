import { BasicAuthInterceptor, Client } from 'camunda-external-task-client-js'
import { test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { buildPythonClient } from './build.ts'
import { startPythonWorker } from './clients.ts'
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

/** An object that no engine can create. With it, an engine refuses a fetch that requests objects. */
const OBJECT = {
  type: 'Object',
  value: Buffer.from('not a Java object').toString('base64'),
  valueInfo: {
    objectTypeName: 'does.not.Exist',
    serializationDataFormat: 'application/x-java-serialized-object',
  },
}

void test('the Python client, which requests objects by default, completes a task with an object', {
  skip: javaSkip,
}, async (t) => {
  const missing = await buildPythonClient().then(
    () => null,
    (error: unknown) => `the Python client could not be installed: ${String(error)}`,
  )
  if (missing !== null) {
    t.comment(missing)
    return
  }
  const engine = await startEngine({
    args: ['--camunda.bpm.generic-properties.properties.javaSerializationFormatEnabled=true'],
  })
  t.teardown(() => engine.stop())
  const gateway = await startGateway(engine.base)
  t.teardown(() => gateway.drain())
  const { externalInstanceId, businessKey } = await seed(engine.base)
  const path = `/process-instance/${externalInstanceId}/variables/object`
  t.match(await exchange(engine.base, { method: 'PUT', path, body: OBJECT }), { status: 204 })
  const worker = await startPythonWorker({ base: gateway.base, topic: 'work', pollMs: 1000, lockMs: 10_000 })
  t.teardown(() => worker.stop())
  await until(() => worker.completed.length > 0 || worker.errors.length > 0, 30_000)
  t.same(worker.errors, [])
  t.same(worker.completed, [businessKey])
})
