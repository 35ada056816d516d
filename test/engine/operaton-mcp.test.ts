import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { AUDIENCE, startProvider, WORKER } from '../support/oidc-provider.ts'
import { javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { seed } from './seed.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
const SERVER = new URL('../../node_modules/operaton-mcp/dist/index.js', import.meta.url).pathname

type Json = Readonly<Record<string, unknown>>

void t.test(
  'the tools of operaton-mcp work with Basic authentication and with client credentials',
  { skip: javaSkip },
  async (t) => {
    const engine = await startEngine({ family: 'operaton' })
    t.teardown(() => engine.stop())
    await seed(engine.base)
    const issuer = await startProvider(t, { method: 'client_secret_post', roles: ['camunda-admin'] })
    const gateway = await start(loadConfig(configFile(t, engine, issuer)), pino({ level: 'silent' }))
    t.teardown(gateway.drain)
    const logins = {
      demo: { OPERATON_USERNAME: 'demo', OPERATON_PASSWORD: 'demo' },
      worker: {
        OPERATON_CLIENT_ID: WORKER.client_id,
        OPERATON_CLIENT_SECRET: WORKER.client_secret,
        OPERATON_TOKEN_URL: `${issuer}/token`,
      },
    }
    for (const [user, login] of Object.entries(logins)) {
      const call = await startTools(t, { ...login, OPERATON_BASE_URL: `${gateway.address}/engine-rest` })
      t.match(await call('processDefinition_list', {}), /review/, `${user}: list`)
      const before = JSON.parse(await call('processInstance_count', {})).count
      t.match(await call('processInstance_start', { key: 'review' }), /review/, `${user}: start`)
      const after = JSON.parse(await call('processInstance_count', {})).count
      t.equal(after, before + 1, `${user}: count`)
      const { body } = await exchange(engine.base, {
        method: 'GET',
        path: '/task?sortBy=created&sortOrder=desc',
      })
      const [task] = Array.isArray(body) ? body : []
      await call('task_complete', { id: task.id })
      const { status } = await exchange(engine.base, { method: 'GET', path: `/task/${task.id}` })
      t.equal(status, 404, `${user}: complete`)
    }
  },
)

function configFile(t: Test, { base }: Engine, issuer: string): string {
  const file = join(t.testdir({}), 'gateway.yaml')
  const claims = { client: 'client_id', groups: ['roles'] }
  const trusted = {
    name: 'provider',
    issuer,
    audience: [AUDIENCE],
    types: ['at+jwt'],
    groupPrefix: '',
    claims,
  }
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [base] } },
    identity: { source: 'file', file: join(DEMO, 'users.yaml'), tokens: { issuers: [trusted] } },
    authorization: { records: { source: 'file', file: join(DEMO, 'authorizations.yaml') } },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

/**
 * Starts the server and calls its tools as a host of a model does: JSON-RPC with one message for each line. Returns a
 * function that resolves to the text of the response.
 */
async function startTools(t: Test, env: Readonly<Record<string, string>>) {
  const server = spawn(process.execPath, [SERVER], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => server.kill())
  const waiting = new Map<number, (message: Json) => void>()
  createInterface(server.stdout).on('line', (line) => {
    const message: Json = JSON.parse(line)
    waiting.get(Number(message['id']))?.(message)
  })
  const say = (message: Json) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const ask = async (method: string, params: Json): Promise<Json> => {
    const id = waiting.size + 1
    const answer = new Promise<Json>((resolve) => waiting.set(id, resolve))
    say({ id, method, params })
    return answer
  }
  const clientInfo = { name: 'test', version: '1' }
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  say({ method: 'notifications/initialized' })
  return async (name: string, args: Json): Promise<string> => {
    const { result, error } = await ask('tools/call', { name, arguments: args })
    const { content, isError } = Object(result)
    t.notOk(error ?? isError, `${name}: ${JSON.stringify(error ?? content)}`)
    return String(content?.[0]?.text)
  }
}
