import t from 'tap'
import { type ClaimSettings, principalIn } from '../../../src/policy/authn/token-claims.ts'

const SETTINGS: ClaimSettings = {
  user: ['sub'],
  client: null,
  groups: [['realm_access', 'roles'], ['groups']],
  tenants: [['tenants']],
  required: [],
  kept: [],
  userPrefix: '',
  groupPrefix: 'kc:',
}

t.test('the user, the groups of all paths and the tenants are read from the claims', (t) => {
  const claims = { sub: 'mary', realm_access: { roles: ['a', 'b'] }, groups: 'a', tenants: ['acme'] }
  t.same(principalIn(claims, SETTINGS), { userId: 'mary', groups: ['kc:a', 'kc:b'], tenants: ['acme'] })
  t.same(principalIn({ sub: 'mary', realm_access: null }, SETTINGS), {
    userId: 'mary',
    groups: [],
    tenants: [],
  })
  t.end()
})

t.test('the client claim is used if the user claim is absent, but not if it is invalid', (t) => {
  const settings = { ...SETTINGS, client: ['client_id'], userPrefix: 'kc:' }
  t.match(principalIn({ client_id: 'worker' }, settings), { userId: 'kc:worker' })
  t.match(principalIn({ sub: 'mary', client_id: 'worker' }, settings), { userId: 'kc:mary' })
  for (const sub of ['', null, 1, '*'.repeat(256), ['mary']])
    t.equal(principalIn({ sub, client_id: 'worker' }, settings), 'user', JSON.stringify(sub))
  t.equal(principalIn({ client_id: 'worker' }, SETTINGS), 'user')
  t.end()
})

t.test('inherited members of an object are not claims', (t) => {
  t.equal(principalIn({}, { ...SETTINGS, user: ['constructor', 'name'] }), 'user')
  t.equal(principalIn({ sub: 'mary' }, { ...SETTINGS, user: ['sub', 'length'] }), 'user')
  t.match(principalIn({ sub: 'mary' }, { ...SETTINGS, groups: [['constructor'], ['__proto__']] }), {
    groups: [],
  })
  t.end()
})

t.test('a name that is too long, contains invisible characters or is * is refused', (t) => {
  const bad = ['*', 'a'.repeat(256), ' a', 'a ', 'a\u0000', 'a\u202eb', 'a\u2028', '\ud800', '']
  for (const [at, name] of bad.entries()) {
    const shown = `name ${at}`
    t.equal(principalIn({ sub: name }, SETTINGS), 'user', shown)
    t.equal(principalIn({ sub: 'mary', tenants: [name] }, SETTINGS), 'groups', shown)
    t.equal(principalIn({ sub: 'mary', groups: name }, { ...SETTINGS, groupPrefix: '' }), 'groups', shown)
  }
  t.match(principalIn({ sub: 'auth0|ümlaut:a b@c' }, SETTINGS), { userId: 'auth0|ümlaut:a b@c' })
  for (const groups of [1, true, { a: 1 }, [null], [['a']]])
    t.equal(principalIn({ sub: 'mary', groups }, SETTINGS), 'groups', JSON.stringify(groups))
  t.end()
})

t.test('a token with more than 500 groups is refused', (t) => {
  const groups = Array.from({ length: 500 }, (_, at) => `g${at}`)
  t.match(principalIn({ sub: 'mary', groups }, SETTINGS), { userId: 'mary' })
  t.equal(principalIn({ sub: 'mary', groups: [...groups, 'more'] }, SETTINGS), 'groups')
  t.end()
})

const left = (name: string) => ({ sub: 'mary', _claim_names: { [name]: 'src1' } })

t.test('a token whose configured claim is distributed or aggregated is refused', (t) => {
  const source = { _claim_sources: { src1: { endpoint: 'https://graph.example/getMemberObjects' } } }
  for (const name of ['sub', 'groups', 'realm_access', 'tenants'])
    t.equal(principalIn({ ...left(name), ...source }, SETTINGS), 'distributed', name)
  t.equal(
    principalIn({ ...left('groups'), groups: ['a'] }, SETTINGS),
    'distributed',
    'a part is not all of it',
  )
  const withClient = { ...SETTINGS, client: ['client_id'] }
  t.equal(principalIn({ client_id: 'worker', _claim_names: { sub: 'src1' } }, withClient), 'distributed')
  for (const names of ['groups', ['groups'], 1, true])
    t.equal(principalIn({ sub: 'mary', _claim_names: names }, SETTINGS), 'distributed', JSON.stringify(names))
  t.match(principalIn({ ...left('address'), ...source }, SETTINGS), { userId: 'mary', groups: [] })
  t.match(principalIn({ sub: 'mary', _claim_names: null }, SETTINGS), { userId: 'mary' })
  t.match(principalIn(left('groups'), { ...SETTINGS, groups: [['roles']] }), { userId: 'mary' })
  t.end()
})

t.test('hasgroups refuses a token if the claim groups is configured', (t) => {
  for (const hasgroups of [true, 'true', 1, {}])
    t.equal(principalIn({ sub: 'mary', hasgroups }, SETTINGS), 'distributed', JSON.stringify(hasgroups))
  for (const hasgroups of [false, 'false', null])
    t.match(principalIn({ sub: 'mary', hasgroups }, SETTINGS), { userId: 'mary' })
  t.match(principalIn({ sub: 'mary', hasgroups: true }, { ...SETTINGS, groups: [['roles']] }), { groups: [] })
  t.end()
})

t.test('a required claim must be present and may be empty', (t) => {
  const settings = { ...SETTINGS, required: [['realm_access', 'roles'], ['tenants']] }
  const whole = { sub: 'mary', realm_access: { roles: [] }, tenants: [] }
  t.match(principalIn(whole, settings), { userId: 'mary', groups: [], tenants: [] })
  for (const part of [
    { realm_access: {} },
    { realm_access: null },
    { tenants: null },
    { tenants: undefined },
  ])
    t.equal(principalIn({ ...whole, ...part }, settings), 'missing', JSON.stringify(part))
  t.equal(principalIn({ sub: 'mary', tenants: ['a'] }, settings), 'missing')
  t.end()
})

t.test('a principal contains the claims that are kept, with the words of a text as values', (t) => {
  const settings = { ...SETTINGS, kept: [['scope'], ['level'], ['a', 'b'], ['none'], ['far']] }
  const claims = { sub: 'mary', scope: 'x y', level: 3, a: { b: [true, 'z'] }, _claim_names: { far: 'src' } }
  const principal = principalIn(claims, settings)
  const { claims: kept } = typeof principal === 'string' ? {} : principal
  t.same(
    [...(kept ?? [])],
    [
      ['["scope"]', ['x y', 'x', 'y']],
      ['["level"]', ['3']],
      ['["a","b"]', ['true', 'z']],
      ['["far"]', 'unreadable'],
    ],
  )
  for (const scope of [{ x: 1 }, ['a', null], Array.from({ length: 501 }, (_, at) => `s${at}`)])
    t.match(principalIn({ sub: 'mary', scope }, { ...SETTINGS, kept: [['scope']] }), {
      claims: new Map([['["scope"]', 'unreadable']]),
    })
  t.notOk('claims' in Object(principalIn({ sub: 'mary', scope: 'x' }, SETTINGS)))
  t.end()
})
