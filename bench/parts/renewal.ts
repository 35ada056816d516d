import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import type { ConstantRateResult } from '../load/constant-rate.ts'
import { freePorts, type Server, startServer } from '../servers/processes.ts'
import { sendAtRate } from '../load/send-at-rate.ts'

// Measures how long the requests of one user wait when the remembered credential is renewed. The user's requests come at a constant
// rate, and their waits count from the moment at which they were due.

interface Scenario {
  readonly name: string
  readonly users: 'argon2id' | 'bcrypt' | 'engine'
  /** The time that the engine needs to verify a password, at a time in milliseconds since the load began. */
  readonly verifyMs: (elapsedMs: number) => number
  readonly seconds: number
}

const WARM_UP_SECONDS = 6
const HANG_MS = 8_000
const SCENARIOS: readonly Scenario[] = [
  { name: 'argon2id', users: 'argon2id', verifyMs: () => 0, seconds: 16 },
  { name: 'bcrypt, cost 12', users: 'bcrypt', verifyMs: () => 0, seconds: 16 },
  { name: 'engine, 800 ms', users: 'engine', verifyMs: () => 800, seconds: 16 },
  {
    name: 'engine, hangs',
    users: 'engine',
    verifyMs: (elapsedMs) => (elapsedMs > 2_000 && elapsedMs < 14_000 ? HANG_MS : 20),
    seconds: 24,
  },
]

interface Measured extends ConstantRateResult {
  /** The number of requests for each result of the authentication. */
  readonly authentications: string
}

const TIMEOUTS = { headers: '5s' }
const CREDENTIAL = 'bench:bench'

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'per-second': { type: 'string', default: '5000' },
      only: { type: 'string', default: '' },
      before: { type: 'string' },
    },
  })
  const own = fileURLToPath(new URL('../..', import.meta.url))
  const checkouts = values.before === undefined ? [own] : [resolve(values.before), own]
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(values.only)))
    for (const checkout of checkouts) {
      const result = await measure(scenario, checkout, Number(values['per-second']))
      process.stdout.write(`${scenario.name.padEnd(16)} ${checkout}: ${textOf(result)}\n`)
    }
}

async function measure(scenario: Scenario, checkout: string, perSecond: number): Promise<Measured> {
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  const load = { startedAt: Number.POSITIVE_INFINITY }
  const engine = await startEngine(() => scenario.verifyMs(performance.now() - load.startedAt))
  const [port = 0, adminPort = 0] = await freePorts(2)
  const gateway = await startGateway({ checkout, directory, port, adminPort, scenario, engine: engine.url })
  try {
    const authorization = `Basic ${btoa(CREDENTIAL)}`
    const request = `GET /engine-rest/version HTTP/1.1\r\nhost: gateway\r\nauthorization: ${authorization}\r\n\r\n`
    // The first seconds of a process are slower. The credential is remembered when the measurement begins.
    await sendAtRate({ port, request, perSecond: Math.min(perSecond, 1_000), seconds: WARM_UP_SECONDS })
    const before = await authenticationsOf(adminPort)
    load.startedAt = performance.now()
    const result = await sendAtRate({ port, request, perSecond, seconds: scenario.seconds })
    return { ...result, authentications: differenceOf(before, await authenticationsOf(adminPort)) }
  } finally {
    await gateway.stop()
    engine.close()
    rmSync(directory, { recursive: true })
  }
}

/** Starts an engine with one user, whose password it verifies after a time. */
async function startEngine(verifyMs: () => number) {
  const server = createServer((request, response) => void answer(request, response, verifyMs))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : ''
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/engine-rest`, close }
}

async function answer(
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  verifyMs: () => number,
): Promise<void> {
  if (url.endsWith('/identity/verify')) await wait(verifyMs())
  const body = bodyOf(url)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
}

function bodyOf(url: string): string {
  if (url.endsWith('/identity/verify')) return '{"authenticatedUser":"bench","authenticated":true}'
  if (url.includes('/user?')) return '[{"id":"bench"}]'
  if (url.includes('/group?') || url.includes('/tenant?')) return '[]'
  return '{"version":"7.22.0"}'
}

interface GatewayOptions {
  readonly checkout: string
  readonly directory: string
  readonly port: number
  readonly adminPort: number
  readonly scenario: Scenario
  readonly engine: string
}

async function startGateway(options: GatewayOptions): Promise<Server> {
  const { checkout, directory, port, adminPort, scenario, engine } = options
  const file = (name: string, content: unknown): string => {
    writeFileSync(join(directory, name), JSON.stringify(content))
    return join(directory, name)
  }
  const config = {
    version: 1,
    listen: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: adminPort },
    engines: { default: { nodes: [engine] } },
    timeouts: TIMEOUTS,
    identity:
      scenario.users === 'engine'
        ? { source: 'engine' }
        : { source: 'file', file: file('users.yaml', { users: [await userOf(scenario.users)] }) },
    authorization: { records: { source: 'file', file: file('records.yaml', { authorizations: [] }) } },
  }
  return startServer({
    command: [
      process.execPath,
      '--max-semi-space-size=8',
      '--no-allocation-site-pretenuring',
      join(checkout, 'src/main.ts'),
      '--config',
      file('gateway.yaml', config),
    ],
    port,
    output: openSync(join(directory, 'gateway.log'), 'w'),
  })
}

/** Returns a user whose hash is as expensive as `hash-password` makes it, or is a bcrypt hash of cost 12. */
async function userOf(algorithm: 'argon2id' | 'bcrypt') {
  const passwordHash =
    algorithm === 'bcrypt'
      ? await bcrypt.hash('bench', 12)
      : await argon2.hash('bench', { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  return { id: 'bench', passwordHash }
}

function differenceOf(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string {
  return [...after].map(([result, count]) => `${count - (before.get(result) ?? 0)} ${result}`).join(', ')
}

async function authenticationsOf(adminPort: number): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  const found = text.matchAll(/^gateway_auth_(?:renewals_)?total\{.*?result="(\w+)".*?\} (\d+)$/gm)
  return new Map([...found].map(([, result = '', count]) => [result, Number(count)]))
}

function textOf({ waitsMs, statuses, unanswered, authentications }: Measured): string {
  const at = (part: number) => (waitsMs[Math.floor((waitsMs.length - 1) * part)] ?? Number.NaN).toFixed(1)
  const lost = unanswered === 0 ? '' : `, ${unanswered} without a response`
  return `longest ${at(1)} ms, p99 ${at(0.99)}, p50 ${at(0.5)}; ${JSON.stringify(statuses)}${lost}; ${authentications}`
}

await main()
process.exit()
