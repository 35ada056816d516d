import { readFileSync } from 'node:fs'
import t from 'tap'
import { CHECKED_BY_HAND, productionFindingsOf } from '../../src/config/production.ts'
import { loadSettings, settingsWith } from '../support/config-file.ts'

const issuer = { name: 'company', issuer: 'https://login.example', audience: ['gateway'] }
const tokens = (members: object) => ({ issuers: [{ ...issuer, ...members }] })
const users = { source: 'file', file: 'users.yaml' }

const UNSAFE = settingsWith(
  {
    listen: { allowedOrigins: ['https://page.example'] },
    admin: { host: '0.0.0.0' },
    cache: { redis: { url: 'redis://redis:6379' } },
    identity: { ...users, tokens: tokens({ groupPrefix: '' }) },
    validation: { allow: ['doctype'] },
    log: { audit: 'off' },
  },
  { validation: { allow: ['expressions'] } },
)

const SAFE = settingsWith({
  listen: { trustedProxies: ['10.0.0.0/8'] },
  hosts: ['api.example'],
  admin: { host: '0.0.0.0', token: 'a-token-that-is-long-enough-0123456789' },
  cache: {
    redis: { url: 'rediss://:secret@redis:6379' },
    signingKeys: ['MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='],
  },
  identity: { ...users, tokens: tokens({ userPrefix: 'company:' }) },
  limits: { rate: { requests: 600, per: '1m' } },
})

t.test('every setting that SECURITY.md asks to change is found', (t) => {
  t.same(
    productionFindingsOf(loadSettings(t, UNSAFE)).map(({ path }) => path),
    [
      'engines.default.validation.allow',
      'listen.tls',
      'listen.allowedOrigins',
      'hosts',
      'admin.token',
      'cache.redis',
      'cache.redis.password',
      'cache.signingKeys',
      'identity.tokens.issuers[0].groupPrefix',
      'identity.tokens.issuers[0].userPrefix',
      'limits.rate',
      'log.audit',
    ],
  )
  t.end()
})

t.test('a configuration that follows the list has no findings', (t) => {
  t.same(productionFindingsOf(loadSettings(t, SAFE)), [])
  t.end()
})

t.test('what a prefix opens is a finding', (t) => {
  const passthrough = [
    { prefix: '/camunda', upstream: 'http://engine:8080/camunda', auth: 'none', engineFunctions: 'forward' },
    { prefix: '/forms', upstream: 'http://forms:8080/app', allow: ['GET /**'] },
  ]
  const findings = productionFindingsOf(loadSettings(t, { ...SAFE, passthrough }))
  t.match(findings, [
    {
      path: 'passthrough[0]',
      problem: /^opens every path that is not denied below \/camunda to every client/,
    },
    { path: 'passthrough[0].engineFunctions', problem: /^is forward: / },
    { path: 'passthrough[1]', problem: /^opens the paths of allow below \/forms to every user/ },
  ])
  t.equal(findings.length, 3)
  t.end()
})

t.test('each item of the list in SECURITY.md is checked by a rule, a warning or by hand', (t) => {
  const list = readFileSync('SECURITY.md', 'utf8').split('## Hardening')[1] ?? ''
  const items = list.split(/^- \[ \] /m).slice(1)
  const known = [
    /Only the gateway can reach the engines/, // by hand
    /`authorization\.mode` and `validation\.mode`/, // a warning
    /`validation\.allow`/,
    /TLS is terminated/,
    /`admin` is off the public network/,
    /`hosts` lists .*`listen\.allowedOrigins`/,
    /`cache\.redis` is `rediss:\/\/`.*`cache\.signingKeys`/,
    /Secrets come from files/, // by hand
    /`credentials: \{ header \}`/, // a warning
    /`passthrough`/, // a rule, and by hand
    /`identity\.tokens`/,
    /`limits\.rate`/,
    /audit stream/, // a rule if it is off, the rest by hand
    /revocation names an id/, // by hand
  ]
  t.equal(items.length, known.length)
  for (const [index, item] of items.entries()) t.match(item.replaceAll(/\s+/g, ' '), known[index])
  t.equal(CHECKED_BY_HAND.length, 6)
  t.end()
})
