import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { BROWSER_PATIENCE_MS, openPage, type OpenPage } from '../support/chromium.ts'
import { freePort } from '../support/free-port.ts'
import { chromiumSkip, javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { fetchWebClient } from './build.ts'
import { startChild } from './child.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { clickOn, openAt, type } from './page.ts'
import { seed } from './seed.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
const SECRET = Buffer.alloc(64, 7).toString('base64')
/** Beside what the demo lets mary do. */
const RECORDS = `
  - { type: 1, groupId: clerks, resourceType: 5, resourceId: "*", permissions: [READ] }
  - { type: 1, userId: mary, resourceType: 6, resourceId: review, permissions: [TASK_ASSIGN] }
`

void t.test(
  'CIB seven’s web client, with a user whom the engine does not know',
  { skip: javaSkip || chromiumSkip, timeout: 10 * BROWSER_PATIENCE_MS },
  async (t) => {
    const engine = await startEngine()
    t.teardown(() => engine.stop())
    await exchange(engine.base, {
      method: 'POST',
      path: '/filter/create',
      body: { resourceType: 'Task', name: 'All of them', query: {}, properties: {} },
    })
    const { taskId } = await seed(engine.base)
    const { address, drain } = await start(loadConfig(configFile(t, engine)), pino({ level: 'silent' }))
    t.teardown(drain)
    const origin = await startWebClient(t, address)
    const page = await openPage(t)
    await logIn(page, origin, 'wrong')
    await page.wait(`document.body.innerText.includes('Authentication data is wrong')`)
    await logIn(page, origin, 'mary')
    await page.wait(`location.hash === '#/seven/auth/start'`)
    await page.read(`location.hash = '#/seven/auth/tasks'`)
    await clickOn(page, 'span, div, b', 'Read it')
    await clickOn(page, 'button', 'Claim the currently selected task')
    await page.wait(`!document.body.innerText.includes('Assign to me')`)
    const task = await exchange(engine.base, { method: 'GET', path: `/task/${taskId}` })
    t.match(task.body, { assignee: 'mary' })
    await clickOn(page, 'button', 'Complete')
    await page.wait(`!document.body.innerText.includes('Read it')`)
    const { status } = await exchange(engine.base, { method: 'GET', path: `/task/${taskId}` })
    t.equal(status, 404, 'completed')
  },
)

function configFile(t: Test, { base }: Engine): string {
  const folder = t.testdir({})
  const file = join(folder, 'gateway.yaml')
  const records = join(folder, 'authorizations.yaml')
  writeFileSync(records, readFileSync(join(DEMO, 'authorizations.yaml'), 'utf8') + RECORDS)
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [base] } },
    identity: {
      source: 'file',
      file: join(DEMO, 'users.yaml'),
      open: ['engines', 'verify', 'passwordPolicy'],
      tokens: { session: { secret: SECRET } },
    },
    authorization: { records: { source: 'file', file: records } },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function startWebClient(t: Test, gateway: string): Promise<string> {
  const war = await fetchWebClient()
  const port = await freePort()
  const client = await startChild({
    command: 'java',
    args: [
      '-Xmx256m',
      '-XX:TieredStopAtLevel=1',
      '-jar',
      war,
      '--server.address=127.0.0.1',
      `--server.port=${port}`,
      `--cibseven.webclient.engineRest.url=${gateway}`,
      `--cibseven.webclient.authentication.jwtSecret=${SECRET}`,
    ],
    ready: /Started SevenWebclientApplication/,
    withinMs: 240_000,
  })
  t.teardown(() => client.stop())
  return `http://127.0.0.1:${port}`
}

async function logIn(page: OpenPage, origin: string, password: string): Promise<void> {
  await openAt(page, `${origin}/`)
  await page.wait(`document.querySelector('input[type=password]') !== null`)
  await type(page, 'input:not([type])', 'mary')
  await type(page, 'input[type=password]', password)
  await clickOn(page, 'button[type=submit]', 'Login')
}
