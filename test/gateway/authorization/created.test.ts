import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const CREATE = 'POST /authorization/create'
const { ask, engine } = await openGateway(t, {
  records: [
    'grant mary AUTHORIZATION:* CREATE',
    'grant anna AUTHORIZATION:* CREATE,READ',
    'grant ben AUTHORIZATION:* READ',
  ],
})

function recordFor(userId: string) {
  return { body: { type: 1, permissions: ['READ'], userId, groupId: null, resourceType: 7, resourceId: '*' } }
}

t.test('a caller with CREATE but without READ gets the engine’s 404, and the record exists', async (t) => {
  const answer = await ask('mary', CREATE, recordFor('one'))
  t.match(answer, { status: 404, body: { type: 'InvalidRequestException', code: null } })
  t.match(answer.body, { message: /^Authorization with id [\w-]+ does not exist\.$/ })
  t.equal(answer.forwarded.length, 1)
  t.match((await ask('demo', 'GET /authorization')).body, [{ userId: 'one' }])
})

t.test('a caller with READ gets the created record', async (t) => {
  t.match(await ask('anna', CREATE, recordFor('two')), { status: 200, body: { userId: 'two', id: String } })
})

t.test('a caller without CREATE creates no record', async (t) => {
  const before = engine.requests
  t.match(await ask('ben', CREATE, recordFor('three')), { status: 403 })
  t.equal(engine.requests, before)
})

t.test('a creation that the engine refuses is not verified', async (t) => {
  t.match(await ask('mary', CREATE, recordFor('one')), {
    status: 500,
    body: { type: 'ProcessEnginePersistenceException' },
  })
})
