import t from 'tap'
import { brokenRuleOf, isBearer, readBearer, type TokenRules } from '../../../src/policy/authn/bearer.ts'
import { MAX_BEARER_CHARS } from '../../../src/policy/authn/token-faults.ts'

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const tokenOf = (header: unknown, claims: unknown = {}) => `Bearer ${encoded(header)}.${encoded(claims)}.c2ln`

const withText = (header: string, claims: string) =>
  `Bearer ${[header, claims].map((text) => Buffer.from(text).toString('base64url')).join('.')}.c2ln`

t.test('the scheme Bearer is recognized in any letter case, and no other scheme is', (t) => {
  for (const header of ['Bearer x', 'bearer x', 'BEARER x', 'Bearer', 'Bearer '])
    t.equal(isBearer(header), true)
  for (const header of ['Basic x', 'Bearerx', ' Bearer x', '', 'Negotiate Bearer x'])
    t.equal(isBearer(header), false)
  t.end()
})

t.test('the algorithm, key, type and claims of a token are read', (t) => {
  t.match(readBearer(tokenOf({ alg: 'ES256', kid: 'k', typ: 'application/AT+JWT' }, { sub: 'a' })), {
    alg: 'ES256',
    kid: 'k',
    typ: 'at+jwt',
    claims: { sub: 'a' },
  })
  t.match(readBearer(tokenOf({ alg: 'ES256' })), { kid: null, typ: null })
  t.end()
})

t.test('a token that is ambiguous or unreadable is refused', (t) => {
  const bad = [
    'Bearer',
    'Bearer  ',
    'Bearer a.b',
    'Bearer a.b.',
    'Bearer .b.c',
    'Bearer a.b.c.d',
    `${tokenOf({ alg: 'ES256' })} `,
    `${tokenOf({ alg: 'ES256' })},x`,
    tokenOf({ alg: 'ES256' }).replace('.', '=.'),
    tokenOf([]),
    tokenOf(null),
    tokenOf({ alg: 'ES256' }, 'text'),
    tokenOf({}),
    tokenOf({ alg: 1 }),
    tokenOf({ alg: 'ES256', kid: 1 }),
    tokenOf({ alg: 'ES256', typ: ['JWT'] }),
    `Bearer ${encoded({ alg: 'ES256' })}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.c2ln`,
    withText('{"alg":"ES256"}', '\ufeff{}'),
    withText('{"alg":"ES256"}', '{"sub":"a","sub":"b"}'),
    withText('{"alg":"ES256"}', '{"sub":"a","s\\u0075b":"b"}'),
    withText('{"alg":"ES256"}', '{"realm_access":{"roles":["a"],"roles":["b"]}}'),
    withText('{"alg":"ES256","alg":"ES256"}', '{}'),
  ]
  for (const header of bad) t.equal(readBearer(header), 'malformed', header.slice(0, 60))
  t.equal(readBearer(tokenOf({ alg: 'ES256' }, { filler: 'x'.repeat(MAX_BEARER_CHARS) })), 'too-long')
  for (const member of ['crit', 'jku', 'jwk', 'x5u', 'x5c', 'b64', 'zip'])
    t.equal(readBearer(tokenOf({ alg: 'ES256', [member]: null })), 'header', member)
  t.end()
})

const RULES: TokenRules = {
  algorithms: new Set(['ES256']),
  types: new Set(['at+jwt', 'jwt']),
  audience: new Set(['gateway']),
  skewSeconds: 30,
}
const GOOD = { aud: 'gateway', exp: 1100 }

function ruleBroken(claims: object, rules: Partial<TokenRules> = {}, header: object = {}) {
  const token = readBearer(tokenOf({ alg: 'ES256', ...header }, { ...GOOD, ...claims }))
  return typeof token === 'string' ? token : brokenRuleOf(token, { ...RULES, ...rules }, 1000)
}

t.test('the first broken rule of a token is reported', (t) => {
  const cases: readonly (readonly [ReturnType<typeof ruleBroken>, ...Parameters<typeof ruleBroken>])[] = [
    [null, {}],
    [null, { aud: ['x', 'gateway'] }],
    ['audience', { aud: ['x'] }],
    ['audience', { aud: [] }],
    ['audience', { aud: { gateway: true } }],
    ['audience', { aud: null }],
    [null, { exp: 971 }],
    ['expired', { exp: 970 }],
    ['expiry', { exp: '1100' }],
    ['expiry', { exp: null }],
    [null, { nbf: 1030, iat: 1030 }],
    ['not-yet', { nbf: 1031 }],
    ['not-yet', { iat: 1031 }],
    ['not-yet', { nbf: '0' }],
    ['algorithm', {}, {}, { alg: 'es256' }],
    ['algorithm', {}, {}, { alg: 'HS256' }],
    ['type', {}, {}, { typ: 'dpop+jwt' }],
    ['type', {}, { types: new Set(['at+jwt']) }],
    [null, {}, { types: new Set(['at+jwt']) }, { typ: 'at+jwt' }],
    ['type', { typ: 'Refresh' }],
    ['type', { c_hash: '' }],
    [null, { typ: 'Bearer' }],
    ['audience', {}, { audience: null }],
    [null, { aud: undefined }, { audience: null }],
  ]
  for (const [broken, ...args] of cases) t.equal(ruleBroken(...args), broken, JSON.stringify(args))
  t.end()
})
