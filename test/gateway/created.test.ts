import t from 'tap'
import { openGateway } from './open-gateway.ts'

function recordFor(userId: string) {
  return { type: 1, permissions: ['READ'], userId, groupId: null, resourceType: 7, resourceId: '*' }
}

t.test(
  'who may create a record and not read it gets the engine’s 404, and the record is there',
  async (t) => {
    const { ask, engine } = await openGateway(t, { records: ['grant mary AUTHORIZATION:* CREATE'] })
    const answer = await ask('mary', 'POST /authorization/create', { body: recordFor('anna') })
    t.match(answer, { status: 404, body: { type: 'InvalidRequestException', code: null } })
    t.match(answer.body, { message: /^Authorization with id [\w-]+ does not exist\.$/ })
    t.equal(answer.forwarded.length, 1)
    const { body } = await ask('demo', 'GET /authorization')
    t.match(body, [{ userId: 'anna' }])
    t.equal(engine.requests, 2)
  },
)

t.test('who may read it gets it', async (t) => {
  const { ask } = await openGateway(t, { records: ['grant mary AUTHORIZATION:* CREATE,READ'] })
  const answer = await ask('mary', 'POST /authorization/create', { body: recordFor('anna') })
  t.match(answer, { status: 200, body: { userId: 'anna', id: String } })
})

t.test('who may not create it creates nothing', async (t) => {
  const { ask } = await openGateway(t, { records: ['grant mary AUTHORIZATION:* READ'] })
  const answer = await ask('mary', 'POST /authorization/create', { body: recordFor('anna') })
  t.match(answer, { status: 403, forwarded: [] })
})

t.test('what the engine refuses to create is not asked about', async (t) => {
  const { ask } = await openGateway(t, { records: ['grant mary AUTHORIZATION:* CREATE'] })
  await ask('mary', 'POST /authorization/create', { body: recordFor('anna') })
  t.match(await ask('mary', 'POST /authorization/create', { body: recordFor('anna') }), { status: 500 })
})
