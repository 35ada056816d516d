import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { warningsOf } from '../../src/config/warnings.ts'
import { configOf } from '../support/open-gateway.ts'

const ISSUER = { name: 'company', issuer: 'https://login.example/realms/a/', audience: ['gateway'] }

function configWith(t: Test, tokens: unknown) {
  return configOf(t, 'http://node', {
    settings: { identity: { source: 'file', file: 'users.yaml', tokens } },
  })
}

function problemsWith(t: Test, tokens: unknown): string {
  try {
    configWith(t, tokens)
    return ''
  } catch (error) {
    return error instanceof ConfigError ? error.problems.join('\n') : String(error)
  }
}

t.test('without the section tokens no token is accepted', async (t) => {
  t.equal(configOf(t, 'http://node').identity.tokens, null)
})

t.test('an issuer and an audience are sufficient token settings', async (t) => {
  t.match(configWith(t, { issuers: [ISSUER] }).identity.tokens, {
    session: null,
    remember: 300_000,
    issuers: [
      {
        issuer: 'https://login.example/realms/a/',
        jwksUri: null,
        algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
        types: ['at+jwt', 'JWT'],
        skew: 30_000,
        claims: { user: ['sub'], client: null, groups: [], tenants: [], required: [] },
        userPrefix: '',
        groupPrefix: null,
        groups: 'token',
        tenants: 'token',
        refresh: 600_000,
        staleAfter: 3_600_000,
      },
    ],
  })
})

t.test('a path of a claim is names separated by dots, or a list of names', async (t) => {
  const claims = { user: 'a.b', groups: ['realm_access.roles', ['resource_access', 'my.client', 'roles']] }
  t.match(configWith(t, { issuers: [{ ...ISSUER, claims }] }).identity.tokens?.issuers[0]?.claims, {
    user: ['a', 'b'],
    groups: [
      ['realm_access', 'roles'],
      ['resource_access', 'my.client', 'roles'],
    ],
  })
})

t.test('a URI is one claim name, and a dot that may be part of a name is refused', async (t) => {
  const claimsWith = (own: object) => configWith(t, { issuers: [{ ...ISSUER, claims: own }] }).identity.tokens
  const problemsOf = (...groups: unknown[]) =>
    problemsWith(t, { issuers: [{ ...ISSUER, claims: { groups } }] })
  const uris = ['https://app.example.com/roles', 'https://app.example.com', 'http://a.b/c/d#e', 'urn:x:roles']
  t.match(claimsWith({ groups: uris }), { issuers: [{ claims: { groups: uris.map((uri) => [uri]) } }] })
  const ambiguous = /claims\.groups\[0\]: a dot here may be part of a name: write a list of names$/
  for (const text of [
    'https://app.example.com/v1.0/roles',
    'https://a.example/app.roles',
    'app.example/roles',
  ])
    t.match(problemsOf(text), ambiguous, text)
  for (const text of ['a..b', '.a', 'a.', '.'])
    t.match(problemsOf(text), /claims\.groups\[0\]: a name between the dots is empty$/, text)
  t.equal(problemsOf(['https://app.example.com/v1.0/roles', 'a.b']), '')
})

t.test('a required claim must be a claim of groups or tenants', async (t) => {
  const problemsOf = (own: object) => problemsWith(t, { issuers: [{ ...ISSUER, claims: own }] })
  const claims = { groups: ['realm_access.roles'], tenants: ['tenants'] }
  t.equal(problemsOf({ ...claims, required: [['realm_access', 'roles'], 'tenants'] }), '')
  t.match(
    problemsOf({ ...claims, required: ['tenants', 'roles'] }),
    /claims\.required\[1\]: must be one of the claims in groups or tenants$/,
  )
})

t.test('token settings that would accept too many tokens are refused', async (t) => {
  const issuerWith = (own: object) => problemsWith(t, { issuers: [{ ...ISSUER, ...own }] })
  t.match(problemsWith(t, {}), 'identity.tokens: an issuer or session is needed')
  t.match(issuerWith({ audience: [] }), /audience: at least one audience is needed/)
  t.match(issuerWith({ audience: undefined }), /audience: is missing/)
  for (const alg of ['none', 'HS256', 'RS1', 'ES256K'])
    t.match(issuerWith({ algorithms: [alg] }), /algorithms\[0\]: must be one of/, alg)
  t.match(issuerWith({ algorithms: [] }), /at least one algorithm/)
  t.match(issuerWith({ skew: '6m' }), /skew: must be at most 5m/)
  t.match(issuerWith({ issuer: 'login.example' }), /issuer: an http/)
  t.match(issuerWith({ issuer: 'https://login.example?x=1' }), /issuer: the URL must not contain \?/)
  t.match(
    issuerWith({ jwksUri: 'https://me:secret@login.example/keys' }),
    /jwksUri: the URL must not contain a user/,
  )
  t.match(issuerWith({ refresh: '1h', staleAfter: '1h' }), /staleAfter: must be longer than refresh/)
  t.match(issuerWith({ groups: 'all' }), /groups: must be one of token, source, both/)
  const twice = [ISSUER, { ...ISSUER, name: 'other' }, { ...ISSUER, issuer: 'https://x.example' }]
  t.match(problemsWith(t, { issuers: twice }), /issuers\[1\]\.issuer: is the same as in issuers\[0\]/)
  t.match(problemsWith(t, { issuers: twice }), /issuers\[2\]\.name: is the same as in issuers\[0\]/)
  const nine = Array.from({ length: 9 }, (_, at) => ({
    ...ISSUER,
    name: `n${at}`,
    issuer: `https://${at}.example`,
  }))
  t.match(problemsWith(t, { issuers: nine }), /at most 8 issuers/)
})

const secretOf = (bytes: number) => Buffer.alloc(bytes, 'hunter2').toString('base64')

t.test('a shared secret must be as long as the digest and appears in no message', async (t) => {
  const sessionWith = (secret: string, more = {}) => problemsWith(t, { session: { secret, ...more } })
  t.equal(sessionWith(secretOf(32)), '')
  t.equal(sessionWith(secretOf(32).replace(/=+$/, '')), '', 'the web client needs no padding')
  t.match(sessionWith(secretOf(31)), /session\.secret: at least 32 bytes in base64/)
  t.match(sessionWith('hunter2 '.repeat(10)), /session\.secret: at least 32 bytes in base64/)
  t.match(sessionWith(secretOf(48), { algorithms: ['HS512'] }), /HS512 needs a secret of 64 bytes/)
  t.equal(sessionWith(secretOf(64), { algorithms: ['HS512'] }), '')
  t.notMatch(sessionWith('hunter2hunter2'), 'hunter2')
})

t.test('keys fetched without TLS cause a warning, except from this machine', async (t) => {
  const warningsWith = (own: object) =>
    warningsOf(configWith(t, { issuers: [{ ...ISSUER, ...own }] })).filter((line) =>
      line.includes('without TLS'),
    )
  t.same(warningsWith({}), [])
  t.same(warningsWith({ issuer: 'http://127.0.0.1:8080' }), [])
  t.match(warningsWith({ issuer: 'http://keycloak/realms/a' }), [/^identity\.tokens\.issuers\[0\]: /])
  t.match(warningsWith({ jwksUri: 'http://keycloak/keys' }), [/without TLS/])
})

const ROOT = new URL('../../', import.meta.url)

t.test('the token examples are valid', async (t) => {
  const config = loadConfig(new URL('config/tokens.yaml', ROOT).pathname)
  t.same(
    config.identity.tokens?.issuers.map(({ name }) => name),
    ['keycloak', 'company'],
  )
  t.same(warningsOf(config), [])
  const page = readFileSync(new URL('docs/configuration/tokens.md', ROOT), 'utf8')
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
  const ours = blocks.filter((block) => block.startsWith('identity:'))
  t.same([ours.length, blocks.length], [5, 6], 'one is of the web client')
  for (const block of ours) {
    const { identity } = parse(block.replace(/\$\{file:[^}]*\}/, secretOf(64)))
    t.doesNotThrow(() => configOf(t, 'http://node', { settings: { identity } }), block)
  }
})
