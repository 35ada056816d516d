import { test } from 'tap'
import { javaSkip } from '../requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { seed } from './seed.ts'

const basic = (user: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`,
})
const DIAGRAM = { method: 'GET', path: '/decision-definition/key/discount/diagram' } as const

void test('before a secured engine a held answer is given only to whom the engine would give it', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine({ secured: true })
  t.teardown(() => engine.stop())
  await seed(engine.base, basic('demo'))
  await exchange(engine.base, createUser('mary'), basic('demo'))
  const gateway = await startGateway(
    engine.base,
    `, credentials: forward, service: { username: demo, password: demo },
      identity: { source: engine },
      authorization: { mode: engine, records: { source: engine } }`,
  )
  t.teardown(() => gateway.drain())
  await exchange(gateway.base, DIAGRAM, basic('demo'))
  const held = await exchange(gateway.base, DIAGRAM, basic('demo'))
  t.match(held.headers.get('cache-status'), /hit/)
  const direct = await exchange(engine.base, DIAGRAM, basic('mary'))
  const refused = await exchange(gateway.base, DIAGRAM, basic('mary'))
  t.equal(direct.status, 404)
  t.same([refused.status, refused.body], [direct.status, direct.body])
  t.equal(refused.headers.get('cache-status'), null)
})

function createUser(id: string) {
  const profile = { id, firstName: id, lastName: id, email: `${id}@localhost` }
  return { method: 'POST', path: '/user/create', body: { profile, credentials: { password: id } } } as const
}
