import t from 'tap'
import { BROWSER_PATIENCE_MS, openPage, type OpenPage } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { chromiumSkip, javaSkip } from '../support/requirements.ts'
import { exchange } from './exchange.ts'
import { clickOn, openAt, type } from './page.ts'
import {
  completeTask,
  JWT_SECRET,
  startEngineWithFilter,
  startGatewayForWebClient,
  startWebClient,
} from './web-client.ts'

void t.test(
  'a user whom the engine does not know completes a task of their group in CIB seven’s web client',
  { skip: javaSkip || chromiumSkip, timeout: 10 * BROWSER_PATIENCE_MS },
  async (t) => {
    const engine = await startEngineWithFilter(t, { candidateUser: 'mary', includeAssignedTasks: true })
    const { address } = await startGatewayForWebClient(t, engine, {
      open: ['engines', 'verify', 'passwordPolicy'],
      tokens: { session: { secret: JWT_SECRET } },
    })
    const origin = await startWebClient(t, { address, port: await freePort() })
    const page = await openPage(t)
    await logIn(page, origin, 'wrong')
    await page.wait(`document.body.innerText.includes('Authentication data is wrong')`)
    await logIn(page, origin, 'mary')
    const selected = await exchange(engine.base, { method: 'GET', path: '/task/count?candidateUser=mary' })
    t.same(selected.body, { count: 0 }, 'the engine knows no group of mary')
    await completeTask(t, page, engine, 'mary')
  },
)

async function logIn(page: OpenPage, origin: string, password: string): Promise<void> {
  await openAt(page, `${origin}/`)
  await page.wait(`document.querySelector('input[type=password]') !== null`)
  await type(page, 'input:not([type])', 'mary')
  await type(page, 'input[type=password]', password)
  await clickOn(page, 'button[type=submit]', 'Login')
}
