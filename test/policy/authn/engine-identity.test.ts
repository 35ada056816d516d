import t from 'tap'
import { GatewayError } from '../../../src/errors.ts'
import type { EngineResponse, EngineRequest } from '../../../src/request/engine-request.ts'
import { createEngineIdentity } from '../../../src/policy/authn/engine-identity.ts'

const answer = (body: unknown, status = 200): EngineResponse => ({
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

const yes = () => answer({ authenticated: true })

interface Routes {
  readonly '/identity/verify'?: () => EngineResponse
  readonly '/user'?: () => EngineResponse
  readonly '/group'?: () => EngineResponse
  readonly '/tenant'?: () => EngineResponse
}

/** Opens an engine that knows the user mary with the password secret. */
function open(routes: Routes = {}) {
  const clock = { ms: 0 }
  const asked: string[] = []
  const known = {
    '/identity/verify': (body: unknown) =>
      answer({ authenticated: JSON.stringify(body) === '{"username":"mary","password":"secret"}' }),
    '/user': () => answer([{ id: 'mary', firstName: 'Mary' }]),
    '/group': () => answer([{ id: 'clerks', name: 'Clerks' }]),
    '/tenant': () => answer([{ id: 'acme' }, { id: 'north' }]),
    ...routes,
  }
  const ask = async ({ method, path, body }: EngineRequest): Promise<EngineResponse> => {
    asked.push(`${method} ${path}`)
    const [name = ''] = path.split('?')
    const found = Object.entries(known).find(([route]) => route === name)
    if (found === undefined) throw new Error(`Asked for ${path}`)
    return found[1](body)
  }
  const identity = createEngineIdentity({
    ask,
    now: () => clock.ms,
    delay: async (ms) => {
      clock.ms += ms
    },
  })
  const verify = (user: string, password: string) =>
    identity.verify({ user, password, from: '', proven: false })
  return { identity, verify, asked, clock }
}

t.test('a user with the right password has groups and tenants', async (t) => {
  const { verify, asked } = open()
  t.same(await verify('mary', 'secret'), { userId: 'mary', groups: ['clerks'], tenants: ['acme', 'north'] })
  t.same(asked, [
    'POST /identity/verify',
    'GET /user?id=mary',
    'GET /group?member=mary',
    'GET /tenant?userMember=mary&includingGroupsOfUser=true',
  ])
})

t.test('after a wrong password, groups and tenants are not read from the engine', async (t) => {
  const { verify, asked } = open()
  t.equal(await verify('mary', 'wrong'), null)
  t.same(asked, ['POST /identity/verify'])
})

t.test('a user name cannot change the query', async (t) => {
  const user = 'a&member=b/../c?d#é %'
  const { verify, asked } = open({ '/identity/verify': yes, '/user': () => answer([{ id: user }]) })
  t.match(await verify(user, 'x'), { userId: user })
  t.equal(asked[2], 'GET /group?member=a%26member%3Db%2F..%2Fc%3Fd%23%C3%A9%20%25')
})

t.test('the user * is never authenticated', async (t) => {
  const { verify, asked, clock } = open({ '/identity/verify': yes })
  t.equal(await verify('*', 'x'), null)
  t.same(asked, [])
  t.equal(clock.ms, 50, 'after the time of every other failure')
})

t.test('a user name that the engine accepts in another spelling becomes the stored user ID', async (t) => {
  const { verify } = open({ '/identity/verify': yes })
  t.match(await verify('MARY', 'secret'), { userId: 'mary' })
})

t.test('if the directory lists no users, the user name is used as it was sent', async (t) => {
  const { verify } = open({ '/user': () => answer([]) })
  t.same(await verify('mary', 'secret'), { userId: 'mary', groups: ['clerks'], tenants: ['acme', 'north'] })
  t.equal(await verify('mary', 'wrong'), null)
})

t.test('an unexpected response of the engine authenticates no user', async (t) => {
  const cases: readonly (readonly [claim: string, routes: Routes])[] = [
    ['no outcome', { '/identity/verify': () => answer({}) }],
    ['an outcome that is no boolean', { '/identity/verify': () => answer({ authenticated: 'true' }) }],
    ['no JSON', { '/identity/verify': () => answer('<html>') }],
    ['null', { '/identity/verify': () => answer(null) }],
    ['another status', { '/identity/verify': () => answer({ authenticated: true }, 403) }],
    ['all users', { '/user': () => answer([{ id: 'admin' }, { id: 'bob' }]) }],
    ['no list of groups', { '/group': () => answer({ groups: [] }) }],
    ['a group without id', { '/group': () => answer([{ name: 'x' }]) }],
    ['no tenants', { '/tenant': () => answer('', 500) }],
  ]
  for (const [claim, routes] of cases) {
    const { verify, identity } = open(routes)
    await t.rejects(verify('mary', 'secret'), { code: 'GW_UPSTREAM_INVALID' }, claim)
    t.match(identity.state().problem, /^The engine(?:'s response| responded) to \//)
  }
})

t.test('an unreachable engine is an error and does not count as a failure of the user', async (t) => {
  let away = true
  const { verify, identity } = open({
    '/identity/verify': () => {
      if (away) throw new GatewayError('GW_NO_NODE')
      return answer({ authenticated: true })
    },
  })
  for (let time = 0; time < 10; time += 1)
    await t.rejects(verify('mary', 'secret'), { code: 'GW_NO_NODE', statusCode: 503 })
  t.equal(identity.state().problem, 'No node of the engine can be reached')
  away = false
  t.match(await verify('mary', 'secret'), { userId: 'mary' })
  t.same(identity.state(), { problem: null, ageMs: 0 })
})

t.test('a throttled user is not a problem of the source', async (t) => {
  const { verify, identity, asked } = open()
  await verify('mary', 'wrong')
  await t.rejects(verify('mary', 'wrong'), { code: 'GW_THROTTLED' })
  t.equal(identity.state().problem, null)
  t.equal(asked.length, 1)
})

t.test('a change starts a new generation', (t) => {
  const { identity } = open()
  const before = identity.stampOf('mary')
  t.equal(identity.stampOf('mary'), before)
  identity.changed()
  t.not(identity.stampOf('mary'), before)
  t.end()
})

t.test('the groups of another user are read without the rest of the principal', async (t) => {
  const { identity, asked } = open()
  t.same(await identity.groupsOf('bob'), ['clerks'])
  t.same(asked, ['GET /group?member=bob'])
})

t.test('the principal of a user is read without a password', async (t) => {
  const { identity, asked } = open()
  t.same(await identity.principalOf('mary'), {
    userId: 'mary',
    groups: ['clerks'],
    tenants: ['acme', 'north'],
  })
  t.notOk(asked.some((line) => line.includes('/identity/verify')))
  const stranger = open({ '/user': () => answer([]) })
  t.equal(await stranger.identity.principalOf('bob'), null)
})
