import t, { type Test } from 'tap'
import { authorizationOf, BASE } from '../../support/open-gateway.ts'
import { startReloadable } from '../../support/reloadable.ts'
import { AUDIENCE, bearer, createKey, startIssuer } from '../../support/token-issuer.ts'
import { startSandbox } from '../../../sandbox/sandbox.ts'

const KEY = await createKey('one')
const sandbox = await startSandbox()
t.teardown(() => sandbox.close())

async function open(t: Test, isAway = false) {
  const issuer = await startIssuer(t, KEY)
  if (isAway) issuer.answer = (_path, response) => response.writeHead(500).end()
  const settingsOf = (own: object = {}, more: object = {}) => ({
    engines: {
      default: { nodes: [sandbox.base] },
      closed: { nodes: [sandbox.base], identity: { source: 'file', file: 'users.yaml' } },
    },
    identity: {
      source: 'file',
      file: 'users.yaml',
      tokens: { issuers: [{ name: 'company', issuer: issuer.url, audience: [AUDIENCE], ...own }] },
    },
    ...more,
  })
  const gateway = await startReloadable(t, settingsOf())
  const ask = async (headers: Readonly<Record<string, string>>, path = '/task') => {
    const answer = await fetch(gateway.running.address + BASE + path, { headers })
    await answer.arrayBuffer()
    return answer.status
  }
  const readiness = async () => {
    const answer = await fetch(`${gateway.running.adminAddress}/readyz?verbose`)
    return { status: answer.status, text: await answer.text() }
  }
  return { gateway, issuer, settingsOf, ask, readiness }
}

const UP = 'gateway_source_up{engine="default",source="issuer company"}'
const basic = { authorization: authorizationOf('mary') }

t.test('the keys of an issuer are loaded before the gateway listens', async (t) => {
  const { gateway, issuer, ask, readiness } = await open(t)
  t.same(issuer.asked, ['/.well-known/openid-configuration', '/keys'])
  t.equal(await ask(bearer(await issuer.sign(KEY))), 200)
  t.equal(issuer.asked.length, 2)
  t.match((await readiness()).text, /issuer company of default: ok/)
  t.equal(await gateway.metric(UP), 1)
  const counted = 'gateway_auth_total{engine="default",result="verified",method="oidc"}'
  t.equal(await gateway.metric(counted), 1)
})

t.test('an engine with its own identity section does not accept tokens of the general section', async (t) => {
  const { issuer, ask } = await open(t)
  t.equal(await ask(bearer(await issuer.sign(KEY)), '/engine/closed/task'), 401)
  t.equal(await ask(basic, '/engine/closed/task'), 200)
})

t.test(
  'a gateway starts and serves other callers while its issuer is unavailable, and reports it',
  async (t) => {
    const { gateway, issuer, ask, readiness } = await open(t, true)
    t.equal(await ask(basic), 200)
    t.match(await readiness(), { status: 200, text: /issuer company of default: .*response status 500/ })
    t.equal(await gateway.metric(UP), 0)
    t.match(
      gateway.log.find(({ name }) => name === 'company'),
      { level: 'warn', why: /500/ },
    )
    const token = bearer(await issuer.sign(KEY))
    t.equal(await ask(token), 503)
    issuer.answer = null
    t.equal(await ask(basic), 200)
  },
)

t.test(
  'a reload keeps keys and verified tokens unless the settings that they were verified with change',
  async (t) => {
    const { gateway, issuer, settingsOf, ask } = await open(t)
    const known = bearer(await issuer.sign(KEY))
    const other = bearer(await issuer.sign(KEY, { jti: 'other' }))
    t.equal(await ask(known), 200)
    issuer.answer = (_path, response) => response.writeHead(500).end()
    t.match(await gateway.reload(settingsOf({}, { validation: { mode: 'report' } })), { status: 200 })
    t.equal(await ask(known), 200)
    t.equal(await ask(other), 200, 'its key was read before the reload')
    t.equal(await gateway.metric('gateway_auth_total{engine="default",result="remembered",method="oidc"}'), 1)
    t.match(await gateway.reload(settingsOf({ skew: '10s' })), { status: 200 })
    t.equal(await ask(known), 200)
    t.equal(
      await gateway.metric('gateway_auth_total{engine="default",result="remembered",method="oidc"}'),
      1,
      'another configuration of tokens has verified it anew',
    )
    t.match(await gateway.reload(settingsOf({ audience: ['other'] })), { status: 200 })
    t.equal(await ask(known), 401)
    t.match(await gateway.reload(settingsOf({}, { identity: { source: 'file', file: 'users.yaml' } })), {
      status: 200,
    })
    t.equal(await ask(known), 401)
  },
)
