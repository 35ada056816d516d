import { createServer, request as ask } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import bcrypt from 'bcrypt'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { start } from '../support/start.ts'
import { startNode } from '../support/fake-engine.ts'
import { authorizationOf, BASE } from '../support/open-gateway.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const GOOD = Array.from({ length: 40 }, (_, index) => `good${index}`)
const hash = await bcrypt.hash('right', 4)

async function startWith(t: Test, listen: Readonly<Record<string, unknown>>): Promise<string> {
  const engine = await startNode(t, (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{}'),
  )
  const folder = await mkdtemp(join(tmpdir(), 'engine-gateway-'))
  const users = GOOD.map((id) => ({ id, passwordHash: hash }))
  await writeFile(join(folder, 'users.yaml'), JSON.stringify({ users }))
  await writeFile(join(folder, 'records.yaml'), '{ "authorizations": [] }')
  const config = {
    version: 1,
    listen: { port: 0, ...listen },
    admin: { port: 0 },
    engines: { default: { nodes: [engine.url + BASE] } },
    health: { probe: false },
    log: { audit: 'off' },
    identity: { source: 'file', file: 'users.yaml' },
    authorization: { records: { source: 'file', file: 'records.yaml' } },
  }
  await writeFile(join(folder, 'gateway.yaml'), JSON.stringify(config))
  const { address, drain } = await start(
    loadConfig(join(folder, 'gateway.yaml')),
    createLogger({ level: 'silent' }),
  )
  t.teardown(async () => {
    await drain()
    await rm(folder, { recursive: true })
  })
  return address
}

/**
 * Starts a proxy that appends the address of its client, as an ingress does. Here the client names its address itself,
 * because all clients are on one machine.
 */
async function startProxy(t: Test, to: string): Promise<string> {
  const server = createServer((request, response) => {
    const { 'x-client': client, ...headers } = request.headers
    const passed = { ...headers, 'x-forwarded-for': `1.1.1.1, ${String(client)}` }
    const onward = ask(to + (request.url ?? ''), { headers: passed }, (answer) => {
      response.writeHead(answer.statusCode ?? 502)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    request.pipe(onward)
  })
  return listenUntilEnd(t, server)
}

async function statusOf(origin: string, user: string, password: string, client: string): Promise<number> {
  const headers = { authorization: authorizationOf(user, password), 'x-client': client }
  const response = await fetch(`${origin}${BASE}/version`, { headers })
  await response.arrayBuffer()
  return response.status
}

/**
 * Returns the statuses of valid users that authenticate for the first time while an attacker sends 4 guesses a second,
 * and the statuses of the guesses.
 */
async function meet(origin: string, clientOf: (user: string) => string, guesser: string) {
  const guesses: Promise<number>[] = []
  const guess = (user: string) => guesses.push(statusOf(origin, user, `wrong ${guesses.length}`, guesser))
  // Makes the address busy from the start. Otherwise it would take 12 s until 50 of these guesses have arrived.
  for (let count = 0; count < 60; count += 1) guess(`nobody${count}`)
  await Promise.all(guesses)
  const good: Promise<number>[] = []
  const startedAt = performance.now()
  for (let tick = 0; tick < GOOD.length; tick += 1) {
    const user = GOOD[tick] ?? ''
    // Alternates between unknown names and the name of the user who authenticates at this moment.
    if (tick % 2 === 0) guess(tick % 4 === 0 ? `nobody${tick}` : user)
    good.push(statusOf(origin, user, 'right', clientOf(user)))
    await wait(125)
  }
  const statuses = await Promise.all(good)
  return { statuses, ms: performance.now() - startedAt, guesses: await Promise.all(guesses) }
}

const ALL = GOOD.map(() => 200)

t.test('valid users are served while 4 wrong passwords a second come from the same address', async (t) => {
  const origin = await startWith(t, {})
  const { statuses, guesses } = await meet(origin, () => '', '')
  t.same(statuses, ALL)
  t.ok(guesses.every((status) => status === 401))
})

t.test('valid users behind a trusted proxy are served, whatever the address of the guesses', async (t) => {
  const proxied = await startProxy(t, await startWith(t, { trustedProxies: ['127.0.0.1'] }))
  const elsewhere = await meet(proxied, (user) => `10.0.0.${user.slice(4)}`, '203.0.113.9')
  t.same(elsewhere.statuses, ALL)
  const same = await meet(
    await startProxy(t, await startWith(t, { trustedProxies: ['127.0.0.1'] })),
    () => '203.0.113.9',
    '203.0.113.9',
  )
  t.same(same.statuses, ALL)
})

t.test('after many wrong passwords, each response to their address is delayed', async (t) => {
  const origin = await startWith(t, { trustedProxies: ['127.0.0.1'] })
  const proxied = await startProxy(t, origin)
  const timeOf = async (client: string, count: number) => {
    const startedAt = performance.now()
    t.equal(await statusOf(proxied, 'good0', `wrong ${client} ${count}`, client), 401)
    return performance.now() - startedAt
  }
  const times: number[] = []
  for (let count = 0; count < 6; count += 1) times.push(await timeOf('203.0.113.9', count))
  t.ok((times[5] ?? 0) >= 990, `${times[5]} ms`)
  const others: number[] = []
  for (let last = 10; last < 15; last += 1) others.push(await timeOf(`203.0.113.${last}`, 0))
  t.ok(Math.min(...others) < 900, 'another address does not')
})
