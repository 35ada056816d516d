import t, { type Test } from 'tap'
import { BROWSER_PATIENCE_MS, openPage, type OpenPage } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { AUDIENCE, LOGIN_CLIENT, startLoginProvider } from '../support/oidc-provider.ts'
import { until } from '../support/cache-harness.ts'
import { chromiumSkip, javaSkip } from '../support/requirements.ts'
import { clickOn, openAt, type } from './page.ts'
import {
  completeTask,
  type GatewayForWebClient,
  JWT_SECRET,
  startEngineWithFilter,
  startGatewayForWebClient,
  startWebClient,
} from './web-client.ts'

const PEOPLE = {
  'wanda@company.example': { preferred_username: 'wanda', name: 'Wanda Worker', roles: ['clerks'] },
  // The gateway's users file has the groups of this user.
  'mary@company.example': { preferred_username: 'mary', name: 'Mary Miller' },
}

void t.test(
  'the single sign-on of CIB seven’s web client works through the gateway',
  { skip: javaSkip || chromiumSkip, timeout: 20 * BROWSER_PATIENCE_MS },
  async (t) => {
    const engine = await startEngineWithFilter(t)

    await t.test('a user known only to the provider works with access tokens', async (t) => {
      const { port, issuer } = await provide(t)
      const claims = { user: 'preferred_username', groups: ['roles'] }
      const trusted = { name: 'company', issuer, audience: [AUDIENCE], types: ['at+jwt'], claims }
      const gateway = await startGatewayForWebClient(t, engine, {
        open: ['engines'],
        tokens: { issuers: [{ ...trusted, groupPrefix: '' }] },
      })
      const settings = { ...settingsFor(issuer), 'sso.accessTokenToEngineRest': 'true' }
      const origin = await startWebClient(t, { port, address: gateway.address, settings })
      const page = await openPage(t)
      await logIn(page, origin, 'wanda@company.example')
      await completeTask(t, page, engine, 'wanda')
      await checkLines(t, gateway, { user: 'wanda', authenticated: 'oidc company' })
    })

    await t.test('a user of the gateway works with session tokens', async (t) => {
      const { port, issuer } = await provide(t)
      const gateway = await startGatewayForWebClient(t, engine, {
        open: ['engines'],
        tokens: { session: { secret: JWT_SECRET } },
      })
      const settings = settingsFor(issuer)
      const origin = await startWebClient(t, { port, address: gateway.address, settings })
      const page = await openPage(t)
      await logIn(page, origin, 'mary@company.example')
      await completeTask(t, page, engine, 'mary')
      await checkLines(t, gateway, { user: 'mary', authenticated: 'session' })
    })
  },
)

async function provide(t: Test): Promise<{ readonly port: number; readonly issuer: string }> {
  const port = await freePort()
  const redirectUri = `http://127.0.0.1:${port}/sso-login.html`
  return { port, issuer: await startLoginProvider(t, { redirectUri, people: PEOPLE }) }
}

function settingsFor(issuer: string): Readonly<Record<string, string>> {
  return {
    'user.provider': 'org.cibseven.webapp.auth.KeycloakUserProvider',
    'sso.active': 'true',
    'sso.endpoints.authorization': `${issuer}/auth`,
    'sso.endpoints.token': `${issuer}/token`,
    'sso.endpoints.jwks': `${issuer}/jwks`,
    'sso.endpoints.user': `${issuer}/me`,
    'sso.clientId': LOGIN_CLIENT.client_id,
    'sso.clientSecret': LOGIN_CLIENT.client_secret,
    'sso.scopes': 'openid profile',
    'sso.userIdProperty': 'preferred_username',
    'sso.userNameProperty': 'name',
  }
}

async function logIn(page: OpenPage, origin: string, login: string): Promise<void> {
  await openAt(page, `${origin}/`)
  await page.wait(`document.querySelector('input[name=login]') !== null`)
  await type(page, 'input[name=login]', login)
  await type(page, 'input[name=password]', 'any')
  await clickOn(page, 'button', 'Sign-in')
  await clickOn(page, 'button', 'Continue')
}

/** Checks that this user claimed and completed the task, and that nothing was refused. */
async function checkLines(
  t: Test,
  { lines }: GatewayForWebClient,
  caller: Readonly<Record<'user' | 'authenticated', string>>,
): Promise<void> {
  const audits = () => lines.filter(({ stream, event }) => stream === 'audit' && event === undefined)
  await until(() => audits().length > 1, BROWSER_PATIENCE_MS)
  t.match(audits(), [
    { ...caller, operation: 'setAssignee', decision: 'permitted' },
    { ...caller, operation: 'submit', decision: 'permitted' },
  ])
  const open = lines.filter(({ operation, user }) => operation !== undefined && user === undefined)
  t.same([...new Set(open.map(({ operation }) => operation))], ['getProcessEngineNames'], 'before the login')
}
