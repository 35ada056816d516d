import t, { type Test } from 'tap'
import {
  authorizationOf,
  openGateway,
  type GatewayOptions,
  type OpenGateway,
} from '../../support/open-gateway.ts'

const FILE = { source: 'file', file: 'users.yaml' }
const ALL = ['engines', 'verify', 'passwordPolicy']

const own = (names: readonly string[]) => ({ identity: { ...FILE, open: names } })

/** Opens a gateway whose engine responds to every request. */
function open(t: Test, names: readonly string[], options: GatewayOptions = {}): Promise<OpenGateway> {
  return openGateway(t, {
    engine: (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"rules":[]}')
    },
    ...options,
    settings: { identity: { ...FILE, open: names }, ...options.settings },
  })
}

const verify = (username: unknown, password: unknown) => ({ body: { username, password } })
const verdictOf = (user: string, authenticated: boolean) => ({
  authenticatedUser: user,
  groups: null,
  tenants: null,
  authenticated,
})
const wrong = (user: string) => ({ headers: { authorization: authorizationOf(user, 'wrong') } })

async function lastLines({ log }: OpenGateway) {
  await new Promise(setImmediate)
  return {
    access: log.findLast(({ durationMs }) => durationMs !== undefined),
    audit: log.findLast(({ stream }) => stream === 'audit'),
  }
}

t.test('only listed operations are open without credentials', async (t) => {
  const asks = ['GET /engine', 'HEAD /engine', 'GET /identity/password-policy', 'POST /identity/verify']
  const statuses = async ({ ask }: OpenGateway) =>
    Promise.all(
      asks.map(
        async (route) => (await ask(null, route, route.startsWith('POST') ? verify('a', 'b') : {})).status,
      ),
    )
  t.same(await statuses(await open(t, [])), [401, 401, 401, 401])
  t.same(await statuses(await open(t, ['engines'])), [200, 200, 401, 401])
  t.same(await statuses(await open(t, ['passwordPolicy'])), [401, 401, 200, 401])
  t.same(await statuses(await open(t, ['verify'])), [401, 401, 401, 200])
  const gateway = await open(t, ALL)
  for (const route of [
    'GET /task',
    'GET /version',
    'GET /user',
    'GET /engine/default',
    'POST /identity/password-policy',
    'GET /identity/verify',
  ])
    t.match(await gateway.ask(null, route), { status: 401, forwarded: [] }, route)
})

t.test('the open list of engines is the list that every caller gets', async (t) => {
  const { ask } = await open(t, ['engines'])
  const [open_, closed] = [await ask(null, 'GET /engine'), await ask('demo', 'GET /engine')]
  t.match(open_, { status: 200, body: [{ name: 'default' }, { name: 'second' }], forwarded: [] })
  t.same(open_.body, closed.body)
  const headed = await ask(null, 'HEAD /engine')
  t.match(headed, { status: 200, forwarded: [], headers: { 'content-length': `${open_.bytes.length}` } })
  t.equal(headed.bytes.length, 0)
})

t.test('credentials that are sent to an open operation are checked', async (t) => {
  const { ask } = await open(t, ALL)
  for (const route of ['GET /engine', 'GET /identity/password-policy'])
    t.match(await ask(null, route, wrong('mary')), { status: 401, forwarded: [] })
  t.equal((await ask(null, 'GET /engine', { headers: { authorization: 'Bearer x' } })).status, 401)
  t.equal(
    (await ask(null, 'GET /engine', { headers: { authorization: '' } })).status,
    200,
    'an empty one is none',
  )
  t.match(await ask('nobody', 'POST /identity/verify', verify('mary', 'mary')), {
    status: 200,
    body: verdictOf('mary', true),
  })
})

t.test(
  'an open verification has the result of Basic authentication, in the form of the engine',
  async (t) => {
    const gateway = await open(t, ['verify'])
    const cases: readonly (readonly [user: string, password: string, isRight: boolean])[] = [
      ['mary', 'mary', true],
      ['mary', 'wrong', false],
      ['stranger', 'x', false],
      ['mary:mary', 'mary', false],
      ['mary:ma', 'ry', false],
      ['', 'mary', false],
      ['mary', 'a\nb', false],
      ['mary', '\ud800', false],
      ['mary', 'x'.repeat(2000), false],
      ['*', '*', false],
    ]
    for (const [user, password, isRight] of cases) {
      const answer = await gateway.ask(null, 'POST /identity/verify', verify(user, password))
      t.match(answer, { status: 200, body: verdictOf(user, isRight), forwarded: [] }, `${user} ${password}`)
      t.equal(answer.headers['content-type'], 'application/json')
    }
    t.match(await gateway.ask(null, 'POST /identity/verify', verify(1, 2)), { body: verdictOf('1', false) })
    const twice = { body: '{"username":"stranger","username":"mary","password":"mary"}' }
    t.match(await gateway.ask(null, 'POST /identity/verify', twice), {
      status: 400,
      headers: { 'x-gateway-error': 'GW_BAD_JSON' },
      forwarded: [],
    })
    for (const body of [{ username: 'mary' }, { password: 'mary' }, {}, { username: null, password: 'a' }])
      t.match(await gateway.ask(null, 'POST /identity/verify', { body }), {
        status: 400,
        body: { type: 'InvalidRequestException', message: 'Username and password are required', code: null },
      })
  },
)

t.test(
  'wrong passwords of open verifications and of Basic authentication are counted together',
  async (t) => {
    const gateway = await openGateway(t, {
      engine: ({ url }, response) => {
        const isVerdict = url.endsWith('/identity/verify')
        response.setHeader('content-type', 'application/json')
        response.end(isVerdict ? '{"authenticated":false}' : '[]')
      },
      settings: { identity: { source: 'engine', open: ['verify'] } },
    })
    const basic = async (password: string) =>
      (
        await gateway.ask(null, 'GET /task', {
          headers: { authorization: authorizationOf('mary', password) },
        })
      ).status
    t.equal(await basic('a'), 401)
    const asked = gateway.engine.requests
    // The engine locks the user for some seconds after the first failure. During this time the gateway sends it no further password of
    // this user.
    const refused = await gateway.ask(null, 'POST /identity/verify', verify('mary', 'b'))
    t.match(refused, { status: 429, headers: { 'x-gateway-error': 'GW_THROTTLED', 'retry-after': /\d/ } })
    t.equal(gateway.engine.requests, asked)
    t.equal(await basic('c'), 429)
    t.match(await lastLines(gateway), {
      audit: { decision: 'refused', stage: 'authenticate', rule: 'GW_THROTTLED', attemptedUser: 'mary' },
    })
  },
)

t.test('a password that an open verification accepted is remembered for the next request', async (t) => {
  const gateway = await open(t, ['verify'])
  await gateway.ask(null, 'POST /identity/verify', verify('mary', 'mary'))
  await gateway.ask('mary', 'GET /version')
  t.match(
    await gateway.dependencies.metrics.text(),
    /gateway_auth_total\{engine="default",result="open",method="none"\} 1\n(.*\n)*.*result="verified",method="basic"\} 1\n(.*\n)*.*result="remembered",method="basic"\} 1/,
  )
})

t.test('a verification that is not open is sent to the engine after its permission check', async (t) => {
  const gateway = await open(t, [], { records: [] })
  t.equal((await gateway.ask('demo', 'POST /identity/verify', verify('mary', 'mary'))).forwarded.length, 1)
  t.match(await gateway.ask('nobody', 'POST /identity/verify', verify('mary', 'mary')), {
    status: 403,
    forwarded: [],
  })
})

t.test('the open operations are those of the engine in the path', async (t) => {
  const gateway = await open(t, ['passwordPolicy'], {
    engines: { orders: own(['verify']), closed: own([]) },
  })
  const ask = async (name: string) => [
    (await gateway.ask(null, `POST /engine/${name}/identity/verify`, verify('mary', 'mary'))).status,
    (await gateway.ask(null, `GET /engine/${name}/identity/password-policy`)).status,
  ]
  t.same(await ask('orders'), [200, 401])
  t.same(await ask('closed'), [401, 401])
  t.same(await ask('default'), [401, 200])
  t.same(await ask('unknown'), [401, 401])
})

t.test('anonymous requests are rate limited by address, separately from users', async (t) => {
  const gateway = await open(t, ALL, { settings: { limits: { rate: { requests: 2, per: '1h' } } } })
  const ask = async (user: string | null) => (await gateway.ask(user, 'GET /engine')).status
  t.same([await ask(null), await ask(null), await ask(null)], [200, 200, 429])
  t.equal(await ask('demo'), 200, 'users have their own')
})

t.test(
  'log lines have no user for anonymous requests, and name the attempted user of a verification',
  async (t) => {
    const gateway = await open(t, ALL)
    await gateway.ask(null, 'GET /engine')
    t.match((await lastLines(gateway)).access, {
      operation: 'getProcessEngineNames',
      user: undefined,
      status: 200,
    })
    const tried = { client: '127.0.0.1', user: undefined, attemptedUser: 'mary', status: 200 }
    await gateway.ask(null, 'POST /identity/verify', verify('mary', 'mary'))
    t.match(await lastLines(gateway), {
      access: tried,
      audit: { ...tried, operation: 'verifyUser', decision: 'permitted', stage: undefined },
    })
    await gateway.ask(null, 'POST /identity/verify', verify('mary', 'hunter2'))
    t.match(await lastLines(gateway), {
      access: tried,
      audit: { ...tried, decision: 'refused', stage: 'authenticate', rule: 'credentials' },
    })
    await gateway.ask(null, 'POST /identity/verify', verify('a\u202eb', 'hunter2'))
    t.match((await lastLines(gateway)).audit, { attemptedUser: 'a\uFFFDb' })
    t.notMatch(JSON.stringify(gateway.log), /hunter2/)
  },
)
