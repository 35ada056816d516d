import { jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { openGateway, type Seen } from '../../support/open-gateway.ts'

const secret = Buffer.alloc(32, 7)
const CLAIMED = { 'context-user-id': 'demo', 'x-remote-user': 'demo', 'x-user': 'demo' }
const LOCK = 'POST /external-task/fetchAndLock'

function openWith(t: Test, credentials: object, engine: object = {}) {
  return openGateway(t, { engines: { told: { credentials, ...engine } } })
}

/** Separates the request of the caller, which is the last one, from the lookups of the gateway before it. */
function split(forwarded: readonly Seen[]) {
  return { lookUps: forwarded.slice(0, -1), own: forwarded.at(-1)?.headers ?? {} }
}

t.test('an engine receives the authenticated user, whatever the caller claims', async (t) => {
  const { ask } = await openWith(t, { header: 'Context-User-ID' })
  for (const user of ['demo', 'mary'])
    for (const route of [
      'GET /engine/told/version',
      'POST /engine/told/process-definition/key/review/start',
    ]) {
      const { forwarded } = await ask(user, route, {
        headers: CLAIMED,
        ...(route.startsWith('POST') && { body: {} }),
      })
      const { own } = split(forwarded)
      t.equal(own['context-user-id'], user, `${user} ${route}`)
      t.equal(own.authorization, undefined)
      t.equal(own['x-remote-user'], undefined, 'other claims of the caller do not reach the engine')
    }
})

t.test('the user can be sent in a header with another name, which callers cannot set', async (t) => {
  const { ask } = await openWith(t, { header: 'X-Remote-User' })
  const { forwarded } = await ask('mary', 'GET /engine/told/version', { headers: CLAIMED })
  t.match(forwarded[0]?.headers, { 'x-remote-user': 'mary', 'context-user-id': undefined })
})

t.test('the user can be sent as a signed token instead of a password', async (t) => {
  const sign = { secret: secret.toString('base64') }
  const { ask } = await openWith(t, { header: 'Authorization', sign })
  const { forwarded } = await ask('mary', 'GET /engine/told/version')
  const [scheme, token = ''] = String(forwarded[0]?.headers.authorization).split(' ')
  t.equal(scheme, 'Bearer')
  const { payload } = await jwtVerify(token, secret, { algorithms: ['HS256'] })
  t.equal(payload.sub, 'mary')
  t.equal(Number(payload.exp) - Number(payload.iat), 60)
})

t.test('restricted requests and long polls carry the user, too', async (t) => {
  const { ask } = await openWith(t, { header: 'Context-User-ID' })
  const topics = [{ topicName: 'x', lockDuration: 1000 }]
  // Only an engine knows whether it accepts the last member, so the engine gets the fetch of a caller who may fetch nothing.
  const fetch = { workerId: 'w', maxTasks: 1, topics, ofNewerEngine: 1 }
  for (const body of [fetch, { ...fetch, asyncResponseTimeout: 50 }]) {
    const { forwarded } = await ask('mary', LOCK.replace('/', '/engine/told/'), { body })
    const sent = forwarded.filter(({ url }) => url.endsWith('/fetchAndLock'))
    t.same(
      sent.map(({ headers }) => headers['context-user-id']),
      ['mary'],
    )
  }
})

t.test('lookups of the gateway carry no user, and only the credentials of its service account', async (t) => {
  const service = { username: 'gw', password: 'x' }
  for (const [engine, authorization] of [
    [{}, undefined],
    [{ service }, `Basic ${Buffer.from('gw:x').toString('base64')}`],
  ] as const) {
    const { ask } = await openWith(t, { header: 'Context-User-ID' }, engine)
    const list = await ask('demo', 'GET /engine/told/task')
    const [task] = Array.isArray(list.body) ? list.body : []
    const { forwarded } = await ask('mary', `GET /engine/told/task/${task.id}/variables`)
    const { lookUps } = split(forwarded)
    t.ok(lookUps.length > 0)
    for (const { headers } of lookUps) {
      t.equal(headers['context-user-id'], undefined)
      t.equal(headers.authorization, authorization)
    }
  }
})

t.test('a request without credentials carries no user', async (t) => {
  const { ask } = await openWith(
    t,
    { header: 'Context-User-ID' },
    { identity: { source: 'file', file: 'users.yaml', open: ['passwordPolicy'] } },
  )
  const { status, forwarded } = await ask(null, 'GET /engine/told/identity/password-policy', {
    headers: CLAIMED,
  })
  t.not(status, 401)
  t.equal(forwarded.at(-1)?.headers['context-user-id'], undefined)
})
