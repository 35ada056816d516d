import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const RECORDS = { source: 'file', file: 'records.yaml' } as const
const EXISTING = 'existing'

/** Returns the response of an engine with one user. */
function answerOf(url: string): { status: number; body: unknown } {
  if (!url.includes('/user/')) return { status: 200, body: [] }
  return url.includes(`/${EXISTING}/`)
    ? { status: 200, body: { id: EXISTING, firstName: 'E', lastName: 'X', email: null } }
    : { status: 404, body: { type: 'InvalidRequestException', message: 'User does not exist', code: null } }
}

t.test('a caller who may not read a user does not learn whether the user exists', async (t) => {
  const { ask } = await openGateway(t, {
    records: ['grant ben USER:ben READ', 'grant mary USER:* UPDATE'],
    settings: { authorization: { records: RECORDS, implied: { identity: false } } },
    engine: ({ url }, response) => {
      const { status, body } = answerOf(url)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
  })
  const send = async (user: string, id: string, route: string) => {
    const [method = '', path = ''] = route.split(' ')
    const body = path.endsWith('credentials') ? { password: 'x' } : { id, firstName: 'a', lastName: 'b' }
    const answer = await ask(user, `${method} /user/${id}${path}`, method === 'PUT' ? { body } : {})
    const text = JSON.stringify(answer.body).replaceAll(id, '<id>')
    return { status: answer.status, text, forwarded: answer.forwarded.length }
  }
  for (const user of ['mary', 'ben'])
    for (const route of ['PUT /credentials', 'GET /profile', 'PUT /profile', 'POST /unlock', 'DELETE ']) {
      const found = await send(user, EXISTING, route)
      t.same(found, await send(user, 'unknown', route), `${user} ${route}`)
      t.equal(found.forwarded, 0, 'the engine is not asked about the user')
      t.ok([403, 404].includes(found.status))
    }
  // Camunda 7.22.0 does the same: 403 if callers may not read themselves, and 404 if they may not read the other user.
  t.equal((await send('mary', EXISTING, 'PUT /credentials')).status, 403)
  t.equal((await send('ben', EXISTING, 'PUT /credentials')).status, 404)
})
