import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { BROWSER_PATIENCE_MS, openPage, type OpenPage } from '../support/chromium.ts'
import { until } from '../support/cache-harness.ts'
import { chromiumSkip, javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { clickOn, openAt, type } from './page.ts'
import { type Engine, startEngine } from './engine.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
const CREDENTIALS = `Basic ${Buffer.from('demo:demo').toString('base64')}`
/** The engine of each application. */
const ENGINES = { camunda: 'camunda-7.24.0', operaton: 'operaton' } as const
type Family = keyof typeof ENGINES
const FAMILIES = ['camunda', 'operaton'] as const satisfies readonly Family[]

void t.test(
  'the web applications of two engines work behind one gateway in one browser',
  { skip: javaSkip || chromiumSkip, timeout: 10 * BROWSER_PATIENCE_MS },
  async (t) => {
    const engines = { camunda: await openEngine(t, 'camunda'), operaton: await openEngine(t, 'operaton') }
    const { address, ...running } = await start(loadConfig(configFile(t, engines)), pino({ level: 'silent' }))
    t.teardown(running.drain)
    const page = await openPage(t)
    for (const family of FAMILIES) {
      await logIn(page, `${address}/${family}/app/tasklist/default/`)
      await createFilter(page, family)
      await clickOn(page, 'a', `Review of ${family}`)
      await clickOn(page, 'button', 'Claim')
      await clickOn(page, 'button', 'Complete')
      // The list is not watched: the application does not read it again if it is still reading it after the claim.
      await until(async () => (await tasksOf(engines[family])) === 0)
      t.pass(`${family}: logged in, created a filter, claimed and completed`)
    }
    // Each application sets JSESSIONID for `/`.
    for (const family of FAMILIES) {
      await openAt(page, `${address}/${family}/app/tasklist/default/`)
      await page.wait(`document.body?.innerText.includes('Those of ${family}') ?? false`)
      await page.wait(`!document.body.innerText.includes('Review of ${family}')`)
      t.equal(await page.read(`document.querySelector('input[type=password]')`), null, `${family}: still in`)
    }
    // The application redirects to the page with a trailing slash.
    await openAt(page, `${address}/camunda`)
    await page.wait(`location.pathname.startsWith('/camunda/app/')`)
  },
)

/** Starts an engine with one unclaimed task. */
async function openEngine(t: Test, family: Family): Promise<Engine> {
  const engine = await startEngine({ family: ENGINES[family], hasWeb: true, secured: true })
  t.teardown(() => engine.stop())
  const { status } = await fetch(`${engine.base}/task/create`, {
    method: 'POST',
    headers: { authorization: CREDENTIALS, 'content-type': 'application/json' },
    body: JSON.stringify({ name: `Review of ${family}` }),
  })
  t.equal(status, 204)
  return engine
}

function configFile(t: Test, engines: Readonly<Record<Family, Engine>>): string {
  const file = join(t.testdir({}), 'gateway.yaml')
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [engines.camunda.base], credentials: 'forward' } },
    passthrough: FAMILIES.map((family) => ({
      prefix: `/${family}`,
      upstream: `${engines[family].origin}/${family}`,
      auth: 'none',
      engineFunctions: 'forward',
    })),
    identity: { source: 'file', file: join(DEMO, 'users.yaml') },
    authorization: { records: { source: 'file', file: join(DEMO, 'authorizations.yaml') } },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function logIn(page: OpenPage, url: string): Promise<void> {
  await openAt(page, url)
  await page.wait(`document.querySelectorAll('form input').length > 1`)
  await type(page, 'form input[type=text]', 'demo')
  await type(page, 'form input[type=password]', 'demo')
  await clickOn(page, 'button', 'Log in')
}

/** Creates a filter without criteria, which selects all tasks. */
async function createFilter(page: OpenPage, family: Family): Promise<void> {
  await clickOn(page, 'button', 'Create a filter')
  await page.wait(`document.querySelector('.modal-dialog input') !== null`)
  await type(page, '.modal-dialog input', `Those of ${family}`)
  await clickOn(page, '.modal-dialog button', 'Save')
}

async function tasksOf({ base }: Engine): Promise<number> {
  const response = await fetch(`${base}/task/count`, { headers: { authorization: CREDENTIALS } })
  const { count }: { readonly count: number } = JSON.parse(await response.text())
  return count
}
