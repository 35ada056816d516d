import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import type { OpenPage } from '../support/chromium.ts'
import { start } from '../support/start.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { fetchWebClient } from './build.ts'
import { startChild } from './child.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { clickOn } from './page.ts'
import { seed } from './seed.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
/** Records in addition to those of the demo for clerks. */
const RECORDS = `
  - { type: 1, groupId: clerks, resourceType: 5, resourceId: "*", permissions: [READ] }
  - { type: 1, groupId: clerks, resourceType: 7, resourceId: "*", permissions: [TASK_ASSIGN] }
`

/** The secret of the web client, `cibseven.webclient.authentication.jwtSecret`. */
export const JWT_SECRET = Buffer.alloc(64, 7).toString('base64')

type Settings = Readonly<Record<string, unknown>>

/** Starts an engine without authorization and users, with a filter for a task query. By default, it selects all tasks. */
export async function startEngineWithFilter(t: Test, query: Settings = {}): Promise<Engine> {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  await exchange(engine.base, {
    method: 'POST',
    path: '/filter/create',
    body: { resourceType: 'Task', name: 'Theirs', query, properties: {} },
  })
  return engine
}

export interface GatewayForWebClient {
  readonly address: string
  /** Access and audit lines of the gateway so far. */
  readonly lines: readonly Settings[]
}

/** Starts the gateway in front of the engine, with the users of the demo. */
export async function startGatewayForWebClient(
  t: Test,
  { base }: Engine,
  identity: Settings,
): Promise<GatewayForWebClient> {
  const folder = makeFolder(t)
  const file = join(folder, 'gateway.yaml')
  const records = join(folder, 'authorizations.yaml')
  writeFileSync(records, readFileSync(join(DEMO, 'authorizations.yaml'), 'utf8') + RECORDS)
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    engines: { default: { nodes: [base] } },
    identity: { source: 'file', file: join(DEMO, 'users.yaml'), ...identity },
    authorization: { records: { source: 'file', file: records } },
  }
  writeFileSync(file, JSON.stringify(config))
  const lines: Settings[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const { address, drain } = await start(loadConfig(file), log)
  t.teardown(drain)
  return { address, lines }
}

interface WebClientOptions {
  readonly port: number
  /** The address of the gateway. */
  readonly address: string
  /** Further settings of the web client, without the prefix `cibseven.webclient`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts CIB seven's web client on 127.0.0.1. Returns its origin. */
export async function startWebClient(t: Test, options: WebClientOptions): Promise<string> {
  const { port, address, settings = {} } = options
  const war = await fetchWebClient()
  const all = { 'engineRest.url': address, 'authentication.jwtSecret': JWT_SECRET, ...settings }
  const client = await startChild({
    command: 'java',
    args: [
      '-Xmx256m',
      '-XX:TieredStopAtLevel=1',
      '-jar',
      war,
      '--server.address=127.0.0.1',
      `--server.port=${port}`,
      ...Object.entries(all).map(([name, value]) => `--cibseven.webclient.${name}=${value}`),
    ],
    ready: /Started SevenWebclientApplication/,
    withinMs: 240_000,
  })
  t.teardown(() => client.stop())
  return `http://127.0.0.1:${port}`
}

/** Starts a process with a task for a group of mary. Checks that the logged-in user sees, claims and completes the task. */
export async function completeTask(t: Test, page: OpenPage, { base }: Engine, user: string): Promise<void> {
  const { taskId } = await seed(base)
  const link = { groupId: 'clerks', type: 'candidate' }
  await exchange(base, { method: 'POST', path: `/task/${taskId}/identity-links`, body: link })
  await page.wait(`location.hash === '#/seven/auth/start'`)
  await page.read(`location.hash = '#/seven/auth/tasks'`)
  await clickOn(page, 'span, div, b', 'Read it')
  await clickOn(page, 'button', 'Claim the currently selected task')
  await page.wait(`!document.body.innerText.includes('Assign to me')`)
  const task = await exchange(base, { method: 'GET', path: `/task/${taskId}` })
  t.match(task.body, { assignee: user })
  await clickOn(page, 'button', 'Complete')
  await page.wait(`!document.body.innerText.includes('Read it')`)
  const { status } = await exchange(base, { method: 'GET', path: `/task/${taskId}` })
  t.equal(status, 404, 'completed')
}
