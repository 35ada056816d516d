import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { SETUP_SPELLINGS } from '../attacks/application-attacks.ts'
import { speak } from '../support/raw.ts'
import { authorizationOf } from '../support/open-gateway.ts'
import { javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import type { Family } from './build.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname
const USER = JSON.stringify({ profile: { id: 'visitor' }, credentials: { password: 'Visitor-12345' } })

/** The cookie and the header that any page of the applications gives to a client. */
interface Visit {
  readonly cookies: string
  readonly token: string
}

for (const [family, path] of [
  ['camunda-7.24.0', '/camunda'],
  ['operaton', '/operaton'],
] as const)
  t.test(
    `CVE-2026-77226 in ${family}: no spelling of the first-time setup reaches the engine`,
    { skip: javaSkip },
    async (t) => {
      const { origin, base } = await startOpenEngine(t, family)
      const address = await startGateway(t, origin, path)

      await t.test('the engine itself creates an administrator for a visitor', async (t) => {
        const visit = await visitOf(origin + path)
        t.equal(await create(origin + path, visit, '/api/admin/setup/default/user/create'), 204)
        t.equal(
          await create(origin + path, visit, '/api/admin/setup/d%65fault/user/create'),
          403,
          'has one now',
        )
        await removeVisitor(base)
        t.equal(await create(origin + path, visit, '/api/admin/setup/d%65fault/user/create'), 204)
        await removeVisitor(base)
        t.same(await usersOf(base), ['demo'])
      })

      for (const prefix of ['/open', '/closed'])
        await t.test(`behind ${prefix}, it gets none of them`, async (t) => {
          const { cookies, token } = await visitOf(address + prefix)
          for (const spelling of SETUP_SPELLINGS) {
            const lines = [
              `POST ${prefix}${spelling} HTTP/1.1`,
              'Host: g',
              `Authorization: ${authorizationOf('mary')}`,
              `Cookie: ${cookies}`,
              `X-XSRF-TOKEN: ${token}`,
              'Content-Type: application/json',
              `Content-Length: ${USER.length}`,
              'Connection: close',
            ]
            const [response] = await speak(address, `${lines.join('\r\n')}\r\n\r\n${USER}`)
            t.ok([400, 403].includes(response?.status ?? 0), `${spelling} ${response?.status}`)
            t.ok(response?.headers['x-gateway-error'], spelling)
          }
          t.ok(SETUP_SPELLINGS.length >= 50)
          t.same(await usersOf(base), ['demo'])
        })

      await t.test('a user of the engine works with the applications as before', async (t) => {
        await exchange(base, { method: 'PUT', path: '/group/camunda-admin/members/demo' })
        const visit = await visitOf(`${address}/closed`)
        const { status, cookies } = await logIn(`${address}/closed`, visit)
        t.equal(status, 200)
        const tasks = await fetch(`${address}/closed/api/engine/engine/default/task/count`, {
          headers: { cookie: cookies, authorization: authorizationOf('mary') },
        })
        t.same([tasks.status, await tasks.json()], [200, { count: 0 }])
      })

      await t.test('a prefix without engineFunctions shows the pages, and refuses the login', async (t) => {
        const visit = await visitOf(`${address}/pages`)
        t.equal((await logIn(`${address}/pages`, visit)).status, 403)
        for (const below of ['/api/engine/engine/', '/api/cockpit/plugin/base/default/incident']) {
          const response = await fetch(`${address}/pages${below}`, {
            headers: { authorization: authorizationOf('mary') },
          })
          t.equal(response.headers.get('x-gateway-error'), 'GW_NOT_SERVED', below)
        }
        const page = await fetch(`${address}/pages/app/welcome/default/`, {
          headers: { authorization: authorizationOf('mary') },
        })
        t.match(await page.text(), /<html/)
      })
    },
  )

/** Starts an engine without authorization whose group of administrators is empty, as with users and records in files. */
async function startOpenEngine(t: Test, family: Family): Promise<Engine> {
  const engine = await startEngine({ family, hasWeb: true })
  t.teardown(() => engine.stop())
  for (const group of ['camunda-admin', 'operaton-admin'])
    await exchange(engine.base, { method: 'DELETE', path: `/group/${group}/members/demo` })
  return engine
}

/** Starts the gateway with the users and records of the demo. Returns its address. */
async function startGateway(t: Test, origin: string, path: string): Promise<string> {
  const file = join(makeFolder(t), 'gateway.yaml')
  const upstream = origin + path
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [`${origin}/engine-rest`] } },
    passthrough: [
      { prefix: '/open', upstream, auth: 'none', engineFunctions: 'forward' },
      { prefix: '/closed', upstream, engineFunctions: 'forward' },
      { prefix: '/pages', upstream },
    ],
    identity: { source: 'file', file: join(DEMO, 'users.yaml') },
    authorization: { records: { source: 'file', file: join(DEMO, 'authorizations.yaml') } },
  }
  writeFileSync(file, JSON.stringify(config))
  const { address, drain } = await start(loadConfig(file), pino({ level: 'silent' }))
  t.teardown(drain)
  return address
}

async function visitOf(application: string): Promise<Visit> {
  const { headers } = await fetch(`${application}/app/welcome/default/`, {
    headers: { authorization: authorizationOf('mary') },
    redirect: 'manual',
  })
  const cookies = headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  const token = cookies.find((cookie) => cookie.startsWith('XSRF-TOKEN='))?.split('=')[1] ?? ''
  return { cookies: cookies.join('; '), token }
}

async function create(application: string, { cookies, token }: Visit, path: string): Promise<number> {
  const { status } = await fetch(application + path, {
    method: 'POST',
    headers: { cookie: cookies, 'x-xsrf-token': token, 'content-type': 'application/json' },
    body: USER,
  })
  return status
}

async function logIn(application: string, { cookies, token }: Visit) {
  const { status, headers } = await fetch(`${application}/api/admin/auth/user/default/login/tasklist`, {
    method: 'POST',
    headers: {
      cookie: cookies,
      'x-xsrf-token': token,
      authorization: authorizationOf('mary'),
      // Camunda responds with 500 to a client that accepts every type.
      accept: 'application/json',
    },
    body: new URLSearchParams({ username: 'demo', password: 'demo' }),
  })
  const own = headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  return { status, cookies: [cookies, ...own].join('; ') }
}

async function removeVisitor(base: string): Promise<void> {
  await exchange(base, { method: 'DELETE', path: '/user/visitor' })
}

async function usersOf(base: string): Promise<readonly string[]> {
  const users: readonly { readonly id: string }[] = JSON.parse(await (await fetch(`${base}/user`)).text())
  return users.map(({ id }) => id)
}
