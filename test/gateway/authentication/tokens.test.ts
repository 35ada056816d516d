import { createHmac, randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { CompactSign, exportSPKI, importJWK, UnsecuredJWT } from 'jose'
import t, { type Test } from 'tap'
import { fallbackOf } from '../../../src/pipeline/locate-request.ts'
import {
  AUDIENCE,
  bearer,
  type Claims,
  createKey,
  type FakeIssuer,
  signToken,
  startIssuer,
} from '../../support/token-issuer.ts'
import { authorizationOf, openGateway, type OpenGateway } from '../../support/open-gateway.ts'

const KEY = await createKey('one')
const RSA = await createKey('rsa', 'RS256')
const STRANGER = await createKey('one')

/** Opens a gateway that accepts tokens of one issuer. The groups of the tokens are groups of the engine. */
async function openWith(
  t: Test,
  { own = {}, identity = {}, ...settings }: Readonly<Record<string, object>> = {},
): Promise<{ readonly gateway: OpenGateway; readonly issuer: FakeIssuer }> {
  const issuer = await startIssuer(t, KEY, RSA)
  const setting = {
    name: 'company',
    groupPrefix: '',
    issuer: issuer.url,
    audience: [AUDIENCE],
    claims: { groups: ['realm_access.roles'], tenants: ['tenants'] },
    ...own,
  }
  const tokens = { issuers: [setting] }
  const gateway = await openGateway(t, {
    settings: { identity: { source: 'file', file: 'users.yaml', tokens, ...identity }, ...settings },
  })
  return { gateway, issuer }
}

const RECORDS = { source: 'file', file: 'records.yaml' }
const clerks: Claims = { realm_access: { roles: ['clerks'] } }

t.test('a token has the permissions of its groups', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const token = await issuer.sign(KEY, { sub: 'token-only', ...clerks })
  const answer = await gateway.ask(null, 'GET /process-definition', { headers: bearer(token) })
  t.equal(answer.status, 200)
  t.match(answer.body, [{ key: 'review' }])
  const other = await issuer.sign(KEY, { sub: 'token-only' })
  t.same((await gateway.ask(null, 'GET /process-definition', { headers: bearer(other) })).body, [])
})

t.test(
  'a token is accepted with every usual algorithm, and with the permitted types and audiences',
  async (t) => {
    const { gateway, issuer } = await openWith(t)
    const all = await Promise.all(
      ['RS256', 'PS256', 'ES256', 'EdDSA'].map(async (alg) => ({ key: await createKey(`of-${alg}`, alg) })),
    )
    issuer.keys = [KEY.jwk, ...all.map(({ key }) => key.jwk)]
    const tokens = [
      ...(await Promise.all(all.map(({ key }) => issuer.sign(key)))),
      await issuer.sign(KEY, { aud: ['other', AUDIENCE] }),
      await issuer.sign(KEY, {}, { typ: 'JWT' }),
      await issuer.sign(KEY, {}, { typ: 'application/at+jwt' }),
      await issuer.sign(KEY, {}, { typ: undefined }),
    ]
    for (const token of tokens)
      t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(token) })).status, 200)
  },
)

t.test('a token that does not carry its groups is refused, so that no revocation is missed', async (t) => {
  const claims = { groups: ['groups'], tenants: ['tenants'], required: ['tenants'] }
  const { gateway, issuer } = await openWith(t, { own: { claims } })
  const ask = async (more: Claims) => {
    const token = await issuer.sign(KEY, { sub: 'token-only', tenants: [], ...more })
    return gateway.ask(null, 'GET /process-definition', { headers: bearer(token) })
  }
  const source = { src1: { endpoint: 'https://graph.example/v1.0/users/1/getMemberObjects' } }
  const faults: readonly (readonly [fault: string, more: Claims])[] = [
    ['distributed', { _claim_names: { groups: 'src1' }, _claim_sources: source }],
    ['distributed', { _claim_names: { tenants: 'src1' }, _claim_sources: source }],
    ['distributed', { hasgroups: true }],
    ['missing', { groups: ['clerks'], tenants: undefined }],
  ]
  for (const [fault, more] of faults) {
    const response = await ask(more)
    t.equal(response.status, 401, fault)
    t.match(response.body, { message: /a claim that the gateway needs|a required claim/ })
    t.same(response.forwarded, [], fault)
    const audited = gateway.log.findLast(({ stream }) => stream === 'audit')
    t.match(audited, { decision: 'refused', rule: `token: ${fault}` })
  }
  t.match((await ask({ groups: ['clerks'] })).body, [{ key: 'review' }])
})

t.test('the refusal of a long token names its length and the limit', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const headers = bearer(await issuer.sign(KEY, { filler: 'a'.repeat(12 * 1024) }))
  const { body, forwarded } = await gateway.ask(null, 'GET /task', { headers })
  const { length } = headers.authorization
  const message = `The Authorization header has more than 12288 characters: ${length}`
  t.match(body, { message })
  t.same(forwarded, [])
})

t.test('Basic authentication works next to tokens, and both challenges are sent', async (t) => {
  const { gateway } = await openWith(t)
  t.equal((await gateway.ask('mary', 'GET /task')).status, 200)
  for (const headers of [{}, { authorization: '' }, { authorization: authorizationOf('mary', 'wrong') }]) {
    const { status, headers: sent, bytes } = await gateway.ask(null, 'GET /task', { headers })
    t.equal(status, 401)
    t.equal(sent['www-authenticate'], 'Basic realm="default", Bearer realm="default"')
    t.equal(bytes.length, 0)
    t.equal(sent['x-gateway-error'], undefined)
  }
})

t.test('a token is not accepted without the section for tokens', async (t) => {
  const issuer = await startIssuer(t, KEY)
  const gateway = await openGateway(t)
  const headers = bearer(await issuer.sign(KEY))
  const answer = await gateway.ask(null, 'GET /task', { headers })
  t.equal(answer.status, 401)
  t.equal(answer.headers['www-authenticate'], 'Basic realm="default"')
  t.equal(answer.bytes.length, 0)
  t.same(issuer.asked, [])
})

const AT = Math.floor(Date.now() / 1000)
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Returns the token with another header and with its original signature. */
function withHeader(token: string, header: object): string {
  const [, ...rest] = token.split('.')
  return [encoded(header), ...rest].join('.')
}

/** Returns a token that is signed with the public key as the secret. An attacker knows this key. */
async function signedWithPublicKey(issuer: FakeIssuer): Promise<string> {
  const key = await importJWK(RSA.jwk, 'RS256', { extractable: true })
  const pem = key instanceof Uint8Array ? '' : await exportSPKI(key)
  const payload = { iss: issuer.url, sub: 'demo', aud: AUDIENCE, exp: AT + 300 }
  const text = `${encoded({ alg: 'HS256', kid: 'rsa' })}.${encoded(payload)}`
  return `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`
}

/** Returns a token whose issuer writes the claim of the user twice. Not all JSON libraries of issuers refuse that. */
function withUsers(issuer: FakeIssuer, first: string, second: string): Promise<string> {
  const text = `{"iss":"${issuer.url}","aud":"${AUDIENCE}","exp":${AT + 300},"sub":"${first}","sub":"${second}"}`
  return new CompactSign(Buffer.from(text))
    .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
    .sign(KEY.privateKey)
}

const ATTACKS: Readonly<
  Record<string, readonly [fault: string, make: (issuer: FakeIssuer) => Promise<string>]>
> = {
  'no signature': [
    'malformed',
    async ({ url }) => new UnsecuredJWT({ iss: url, sub: 'demo', aud: AUDIENCE, exp: AT + 300 }).encode(),
  ],
  'alg none with a signature': [
    'algorithm',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'none', kid: 'one' }),
  ],
  'alg nOnE': [
    'algorithm',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'nOnE', kid: 'one' }),
  ],
  'the public key as a secret': ['algorithm', signedWithPublicKey],
  'another algorithm than the key has': [
    'key',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'RS256', kid: 'one' }),
  ],
  'a key of somebody else by a known kid': ['signature', (issuer) => issuer.sign(STRANGER)],
  'a kid that is a path': ['key', (issuer) => issuer.sign(KEY, {}, { kid: '../../../dev/null' })],
  'a kid that is an object': ['malformed', (issuer) => issuer.sign(KEY, {}, { kid: { $ne: null } })],
  'a long kid': ['malformed', (issuer) => issuer.sign(KEY, {}, { kid: 'a'.repeat(257) })],
  'no kid where several keys fit': ['key', (issuer) => issuer.sign(KEY, {}, { kid: undefined })],
  'a key of its own': ['header', (issuer) => issuer.sign(STRANGER, {}, { jwk: STRANGER.jwk })],
  'a place of keys of its own': [
    'header',
    (issuer) => issuer.sign(STRANGER, {}, { jku: `${issuer.url}/evil` }),
  ],
  'a place of certificates': ['header', (issuer) => issuer.sign(STRANGER, {}, { x5u: `${issuer.url}/evil` })],
  'certificates of its own': ['header', (issuer) => issuer.sign(STRANGER, {}, { x5c: ['MIIB'] })],
  'a critical extension': [
    'header',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'ES256', kid: 'one', crit: ['exp'] }),
  ],
  'an ID token by its type': ['type', (issuer) => issuer.sign(KEY, {}, { typ: 'id+jwt' })],
  'a logout token': ['type', (issuer) => issuer.sign(KEY, {}, { typ: 'logout+jwt' })],
  "Keycloak's ID token": ['type', (issuer) => issuer.sign(KEY, { typ: 'ID' })],
  'an ID token by its hash': ['type', (issuer) => issuer.sign(KEY, { at_hash: 'x' })],
  expired: ['expired', (issuer) => issuer.sign(KEY, { exp: AT - 31 })],
  'no expiry': ['expiry', (issuer) => issuer.sign(KEY, { exp: undefined })],
  'not valid yet': ['not-yet', (issuer) => issuer.sign(KEY, { nbf: AT + 120 })],
  'of tomorrow': ['not-yet', (issuer) => issuer.sign(KEY, { iat: AT + 86_400 })],
  'another audience': ['audience', (issuer) => issuer.sign(KEY, { aud: 'gateway2' })],
  'no audience': ['audience', (issuer) => issuer.sign(KEY, { aud: undefined })],
  'another issuer': ['issuer', (issuer) => issuer.sign(KEY, { iss: `${issuer.url}/` })],
  'an issuer as a list of one': ['issuer', (issuer) => issuer.sign(KEY, { iss: [issuer.url] })],
  'no issuer': ['issuer', (issuer) => issuer.sign(KEY, { iss: undefined })],
  'no user': ['user', (issuer) => issuer.sign(KEY, { sub: undefined })],
  'an empty user': ['user', (issuer) => issuer.sign(KEY, { sub: '' })],
  everybody: ['user', (issuer) => issuer.sign(KEY, { sub: '*' })],
  'a user with a line feed': ['user', (issuer) => issuer.sign(KEY, { sub: 'demo\nx' })],
  'a user that looks like another': ['user', (issuer) => issuer.sign(KEY, { sub: 'demo\u200b' })],
  'a user with a blank behind': ['user', (issuer) => issuer.sign(KEY, { sub: 'demo ' })],
  'two users, the administrator first': ['malformed', (issuer) => withUsers(issuer, 'demo', 'mary')],
  'two users, the administrator last': ['malformed', (issuer) => withUsers(issuer, 'mary', 'demo')],
  'a user as a list of one': ['user', (issuer) => issuer.sign(KEY, { sub: ['demo'] })],
  'a long user': ['user', (issuer) => issuer.sign(KEY, { sub: 'a'.repeat(256) })],
  'groups that are none': ['groups', (issuer) => issuer.sign(KEY, { realm_access: { roles: [{ a: 1 }] } })],
  'too many groups': [
    'groups',
    (issuer) =>
      issuer.sign(KEY, { realm_access: { roles: Array.from({ length: 501 }, (_, at) => `g${at}`) } }),
  ],
  'a token within a token': [
    'malformed',
    async (issuer) => {
      const [header = '', , signature = ''] = (await issuer.sign(KEY, {}, { cty: 'JWT' })).split('.')
      return [
        header,
        Buffer.from('eyJhbGciOiJub25lIn0.eyJzdWIiOiJkZW1vIn0.').toString('base64url'),
        signature,
      ].join('.')
    },
  ],
  'two algorithms in one header': [
    'malformed',
    async (issuer) => {
      const [, ...rest] = (await issuer.sign(KEY)).split('.')
      return [Buffer.from('{"alg":"ES256","alg":"none","kid":"one"}').toString('base64url'), ...rest].join(
        '.',
      )
    },
  ],
  'an empty key by a kid that is a path': [
    'algorithm',
    async ({ url }) => {
      const payload = { iss: url, sub: 'demo', aud: AUDIENCE, exp: AT + 300 }
      const text = `${encoded({ alg: 'HS384', kid: '../../../../dev/null' })}.${encoded(payload)}`
      return `${text}.${createHmac('sha384', '').update(text).digest('base64url')}`
    },
  ],
  'another algorithm by a key for RS256': [
    'key',
    async (issuer) => withHeader(await issuer.sign(RSA), { alg: 'PS256', kid: 'rsa' }),
  ],
  'an empty list of critical extensions': [
    'header',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'ES256', kid: 'one', crit: [] }),
  ],
  'a payload that is not encoded': [
    'header',
    async (issuer) => withHeader(await issuer.sign(KEY), { alg: 'ES256', kid: 'one', b64: false }),
  ],
  'a DPoP proof': ['type', (issuer) => issuer.sign(KEY, {}, { typ: 'dpop+jwt' })],
  "Keycloak's refresh token": ['type', (issuer) => issuer.sign(KEY, { typ: 'Refresh' })],
  'a user with a soft hyphen': ['user', (issuer) => issuer.sign(KEY, { sub: 'de\u00admo' })],
  'a group with a NUL': [
    'groups',
    (issuer) => issuer.sign(KEY, { realm_access: { roles: ['clerks\u0000'] } }),
  ],
  'groups as an object': [
    'groups',
    (issuer) => issuer.sign(KEY, { realm_access: { roles: { 0: 'clerks' } } }),
  ],
  'an audience as an object': ['audience', (issuer) => issuer.sign(KEY, { aud: { 0: AUDIENCE } })],
  'an audience with a blank': ['audience', (issuer) => issuer.sign(KEY, { aud: `${AUDIENCE} ` })],
  'too long': ['too-long', (issuer) => issuer.sign(KEY, { filler: 'a'.repeat(12 * 1024) })],
  'of five parts': ['malformed', async (issuer) => `${await issuer.sign(KEY)}.a.b`],
  'no JSON': ['malformed', async () => 'bm9uZQ.bm9uZQ.bm9uZQ'],
  'not of base64': ['malformed', async (issuer) => `${await issuer.sign(KEY)}=`],
}

t.test('an invalid token is refused, and nothing reaches the engine', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const other = await createKey('two')
  issuer.keys = [...issuer.keys, other.jwk]
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(KEY)) })).status, 200)
  for (const [what, [fault, make]] of Object.entries(ATTACKS)) {
    const answer = await gateway.ask(null, 'GET /task', { headers: bearer(await make(issuer)) })
    t.equal(answer.status, 401, what)
    t.match(answer.headers['www-authenticate'], /^Bearer realm="default", error="invalid_token"/, what)
    t.equal(answer.headers['content-type'], 'application/json', what)
    t.equal(answer.headers['x-gateway-error'], 'GW_TOKEN_INVALID', what)
    t.match(answer.body, { type: 'NotAuthorizedException', message: String, code: null }, what)
    t.same(answer.forwarded, [], what)
    const audited = gateway.log.findLast(({ stream }) => stream === 'audit')
    t.match(
      audited,
      { decision: 'refused', stage: 'authenticate', rule: `token: ${fault}`, status: 401 },
      what,
    )
  }
  t.notOk(issuer.asked.includes('/evil'))
})

t.test('a token with a changed payload or signature is refused', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const token = await issuer.sign(KEY)
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(token) })).status, 200)
  const [head = '', payload = '', signature = ''] = token.split('.')
  const changed = Buffer.from(payload, 'base64url').toString().replace('mary', 'demo')
  const forged = [head, Buffer.from(changed).toString('base64url'), signature].join('.')
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(forged) })).status, 401)
  const bytes = Buffer.from(signature, 'base64url')
  bytes[10] = (bytes[10] ?? 0) ^ 1
  const other = [head, payload, bytes.toString('base64url')].join('.')
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(other) })).status, 401)
})

t.test('an unavailable issuer gives 503 for tokens, and passwords are still accepted', async (t) => {
  const { gateway, issuer } = await openWith(t)
  issuer.answer = (_path, response) => response.writeHead(500).end()
  const headers = bearer(await issuer.sign(KEY))
  const answer = await gateway.ask(null, 'GET /task', { headers })
  t.equal(answer.status, 503)
  t.equal(answer.headers['x-gateway-error'], 'GW_RECORDS_UNAVAILABLE')
  t.same(answer.forwarded, [])
  t.equal((await gateway.ask('mary', 'GET /task')).status, 200)
  t.match(
    gateway.log.find(({ name }) => name === 'company'),
    { level: 'warn', why: /500/ },
  )
})

t.test('an unknown key id does not cause another request for the keys within ten seconds', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const next = await createKey('next')
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(KEY)) })).status, 200)
  const read = issuer.asked.length
  // The keys are read at most once in ten seconds, and the first token has caused this read.
  for (const kid of ['x', 'y', 'z'])
    await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(KEY, {}, { kid })) })
  t.equal(issuer.asked.length, read)
  issuer.keys = [next.jwk]
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(next)) })).status, 401)
})

t.test('groups and tenants come from the configured source', async (t) => {
  const cases = [
    { groups: 'token', tenants: 'token', is: { groups: ['kc:a'], tenants: ['t'] } },
    { groups: 'token', groupPrefix: null, is: { groups: ['company:a'], tenants: ['t'] } },
    { groups: 'source', tenants: 'source', is: { groups: ['clerks'], tenants: ['acme'] } },
    { groups: 'both', tenants: 'source', is: { groups: ['kc:a', 'clerks'], tenants: ['acme'] } },
  ]
  for (const { is, ...own } of cases) {
    const { gateway, issuer } = await openWith(t, { own: { groupPrefix: 'kc:', ...own } })
    const { authenticator } = fallbackOf(gateway.dependencies.engines)
    const claims = { realm_access: { roles: ['a'] }, tenants: 't' }
    const header = bearer(await issuer.sign(KEY, claims)).authorization
    t.same(await authenticator.authenticate(header, '::1'), {
      userId: 'mary',
      ...is,
      authentication: { method: 'oidc', issuer: 'company' },
    })
    const stranger = bearer(await issuer.sign(KEY, { ...claims, sub: 'stranger' }))
    const answer = await gateway.ask(null, 'GET /task', { headers: stranger })
    t.equal(answer.status, own.groups === 'token' ? 200 : 401)
  }
})

t.test('the prefix of an issuer is added even to a user that already begins with it', async (t) => {
  const { gateway, issuer } = await openWith(t, { own: { userPrefix: 'ma', groups: 'source' } })
  const statusOf = async (sub: string) =>
    (await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(KEY, { sub })) })).status
  t.equal(await statusOf('ry'), 200)
  t.equal(await statusOf('mary'), 401, 'the user is mamary, who is unknown')
})

t.test('two keys of an issuer with the same id verify no token', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const statusOf = async (key: typeof KEY) =>
    (await gateway.ask(null, 'GET /task', { headers: bearer(await issuer.sign(key)) })).status
  issuer.keys = [KEY.jwk, STRANGER.jwk]
  t.same([await statusOf(KEY), await statusOf(STRANGER)], [401, 401])
})

t.test('the user of client credentials comes from its own claim if it is configured', async (t) => {
  const claims = { user: 'preferred_username', client: 'client_id', groups: [['realm.access', 'roles']] }
  const { gateway, issuer } = await openWith(t, { own: { claims, userPrefix: 'kc:' } })
  const { authenticator } = fallbackOf(gateway.dependencies.engines)
  const token = await issuer.sign(KEY, { client_id: 'worker', 'realm.access': { roles: 'workers' } })
  t.match(await authenticator.authenticate(`bearer ${token}`, '::1'), {
    userId: 'kc:worker',
    groups: ['workers'],
  })
})

const SECRET = randomBytes(64)

async function openSession(t: Test, secret = SECRET, more = {}): Promise<OpenGateway> {
  const tokens = { session: { secret: secret.toString('base64'), ...more } }
  return openGateway(t, { settings: { identity: { source: 'file', file: 'users.yaml', tokens } } })
}

const NO_CLAIMS = { iss: undefined, aud: undefined, iat: undefined }
const session = (alg: string, claims: Claims = {}, header = {}, secret = SECRET) =>
  signToken(
    { privateKey: secret, kid: '', alg },
    { ...NO_CLAIMS, ...claims },
    { kid: undefined, typ: undefined, ...header },
  )

t.test('session tokens of the web client of CIB seven authenticate their users', async (t) => {
  const gateway = await openSession(t)
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    const answer = await gateway.ask(null, 'GET /process-definition', { headers: bearer(await session(alg)) })
    t.equal(answer.status, 200, alg)
    t.match(answer.body, [{ key: 'review' }], alg)
  }
  const headers = { ...bearer(await session('HS512')), 'context-user-id': 'demo' }
  const { forwarded } = await gateway.ask(null, 'GET /task/count', { headers })
  t.ok(forwarded.length > 0)
  for (const { headers: sent } of forwarded)
    t.match(sent, { 'context-user-id': undefined, authorization: undefined })
})

t.test('session tokens that do not come from the web client are refused', async (t) => {
  const gateway = await openSession(t, SECRET, { algorithms: ['HS512'] })
  const bad = {
    'another secret': await session('HS512', {}, {}, randomBytes(64)),
    'an algorithm that is off': await session('HS256'),
    'an audience': await session('HS512', { aud: AUDIENCE }),
    'an issuer': await session('HS512', { iss: 'https://elsewhere.example' }),
    'a kid': await session('HS512', {}, { kid: 'one' }),
    'a user who is not known': await session('HS512', { sub: 'stranger' }),
    'a user in other case': await session('HS512', { sub: 'DEMO' }),
    'no expiry': await session('HS512', { exp: undefined }),
    expired: await session('HS512', { exp: AT - 100 }),
  }
  for (const [what, token] of Object.entries(bad)) {
    const answer = await gateway.ask(null, 'GET /task', { headers: bearer(token) })
    t.equal(answer.status, 401, what)
    t.same(answer.forwarded, [], what)
  }
  t.equal((await gateway.ask(null, 'GET /task', { headers: bearer(await session('HS512')) })).status, 200)
})

t.test('log lines do not contain the payload of a token', async (t) => {
  const { gateway, issuer } = await openWith(t)
  const token = await issuer.sign(KEY)
  await gateway.ask(null, 'GET /task', { headers: bearer(token) })
  await gateway.ask(null, 'GET /task', { headers: bearer(`${token.slice(0, -4)}AAAA`) })
  t.notOk(JSON.stringify(gateway.log).includes(token.split('.')[1] ?? ''))
})

/** Responds as an engine that knows mary and finds this user by any spelling, as some databases do. */
function engineOfMary({ url }: { readonly url: string }, response: ServerResponse): void {
  const list = Object.entries({
    '/user?id=': 'mary',
    '/group?member=': 'clerks',
    '/tenant?userMember=': 'acme',
  })
    .filter(([path]) => url.toLowerCase().startsWith(`/engine-rest${path}mary`.toLowerCase()))
    .map(([, id]) => ({ id }))
  response.setHeader('content-type', 'application/json').end(JSON.stringify(list))
}

t.test('session tokens of users of an engine have the groups of the engine', async (t) => {
  const tokens = { session: { secret: SECRET.toString('base64') } }
  const gateway = await openGateway(t, {
    settings: { identity: { source: 'engine', tokens } },
    engine: engineOfMary,
  })
  const { authenticator } = fallbackOf(gateway.dependencies.engines)
  t.same(await authenticator.authenticate(bearer(await session('HS512')).authorization, '::1'), {
    userId: 'mary',
    groups: ['clerks'],
    tenants: ['acme'],
    authentication: { method: 'session', issuer: null },
  })
  for (const sub of ['Mary', 'anna'])
    t.equal(
      (await gateway.ask(null, 'GET /task', { headers: bearer(await session('HS512', { sub })) })).status,
      401,
    )
})

t.test('an engine receives the token only if credentials are forwarded', async (t) => {
  const issuer = await startIssuer(t, KEY)
  const setting = { name: 'company', issuer: issuer.url, audience: [AUDIENCE] }
  const gateway = await openGateway(t, {
    settings: { identity: { source: 'file', file: 'users.yaml', tokens: { issuers: [setting] } } },
    engines: { known: { credentials: 'forward', authorization: { mode: 'off', records: RECORDS } } },
  })
  const headers = bearer(await issuer.sign(KEY))
  const sentTo = async (path: string) => {
    const { forwarded } = await gateway.ask(null, `GET ${path}`, { headers })
    return forwarded.map(({ headers: sent }) => sent.authorization)
  }
  t.same(await sentTo('/engine/known/task/count'), [headers.authorization])
  t.notOk((await sentTo('/task')).some((one) => one !== undefined))
})
