import { test } from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

const DEMO = { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` }

void test('an engine that receives the credentials of the caller stores the authors of comments', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine({ filter: true })
  t.teardown(() => engine.stop())
  const gateway = await startGateway(
    engine.base,
    ', credentials: forward, service: { username: demo, password: demo }',
  )
  t.teardown(() => gateway.drain())
  const { taskId } = await seed(engine.base, DEMO)
  const comment = {
    method: 'POST',
    path: `/task/${taskId}/comment/create`,
    body: { message: 'seen' },
  } as const
  const { status, body } = await exchange(gateway.base, comment, gateway.headers)
  t.equal(status, 200)
  t.match(body, { message: 'seen', userId: 'demo' })
})
