import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import argon2 from '@node-rs/argon2'
import bcrypt from 'bcrypt'
import { chosenOf, numberOf } from '../arguments.ts'
import { failuresIn, requestText, send } from '../load/send.ts'
import { type Part, type Plan, type Row, sampleOf, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { USER } from '../scenario.ts'
import { type Gateway, metricsOf, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES } from '../servers/processes.ts'
import { urlOf } from '../../src/tls/listener-url.ts'

interface Scenario {
  readonly name: string
  readonly users: 'argon2id' | 'bcrypt' | 'engine'
  /** The time that the engine needs to verify a password, at a time in milliseconds since the load began. */
  readonly verifyMs: (elapsedMs: number) => number
}

const HANG_MS = 8_000
const REMEMBER = '5s'
/** At least one renewal. */
const QUICK_SECONDS = 6
const SECONDS = 16
/** The first seconds of a process are slower. The credential is remembered when the measurement begins. */
const WARM_UP_RATE = 1_000
const SCENARIOS: readonly Scenario[] = [
  { name: 'argon2id', users: 'argon2id', verifyMs: () => 0 },
  { name: 'bcrypt, cost 12', users: 'bcrypt', verifyMs: () => 0 },
  { name: 'engine, 800 ms', users: 'engine', verifyMs: () => 800 },
  {
    name: 'engine, hangs',
    users: 'engine',
    verifyMs: (elapsedMs) => (elapsedMs > 2_000 && elapsedMs < 14_000 ? HANG_MS : 20),
  },
]
const QUICK_SCENARIO = 'argon2id'

/** The waits of one user while the remembered credential is renewed. */
export const renewal: Part = {
  name: 'renewal',
  title: 'Stalls: renewal of a credential',
  measures:
    'Reads of one user at a constant rate while the remembered credential is renewed several times. A wait begins at the moment at which the ' +
    'request was due. Users are in a file, with the hash that `hash-password` creates or with bcrypt, or in an engine that needs 800 ms to ' +
    'verify a password, or 8 s for twelve seconds. Credentials are remembered for five seconds (`identity.remember`). `verified` is the number of requests that waited for a verification.',
  columns: [
    { key: 'max', title: 'longest wait', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'verified', title: 'verified', unit: 'number' },
    { key: 'failed', title: 'failed', unit: 'number' },
  ],
  compared: 'max',
  options: { 'per-second': '5000', only: '' },
  run: async (plan) => {
    const rows: Row[] = []
    const only = plan.options['only'] ?? ''
    const chosen = chosenOf(
      plan.isQuick && only === '' ? QUICK_SCENARIO : only,
      SCENARIOS.map(({ name }) => name),
    )
    for (const scenario of SCENARIOS.filter(({ name }) => chosen.includes(name)))
      for (const { name, path } of plan.gateways) {
        plan.log(`  ${scenario.name}`)
        rows.push({ case: scenario.name, server: name, samples: [await measure(scenario, path, plan)] })
      }
    return rows
  },
}

async function measure(scenario: Scenario, checkout: string, plan: Plan) {
  const perSecond = numberOf('per-second', plan.options['per-second'] ?? '')
  const load = { startedAt: Number.POSITIVE_INFINITY }
  const engine = await startEngine(() => scenario.verifyMs(performance.now() - load.startedAt))
  const isInEngine = scenario.users === 'engine'
  const gateway = await startGateway({
    directory: plan.directory,
    checkout,
    core: ANY_CORE,
    nodes: [engine.url],
    settings: {
      timeouts: { headers: '5s' },
      identity: isInEngine
        ? { source: 'engine', remember: REMEMBER }
        : { source: 'file', file: 'users.yaml', remember: REMEMBER },
    },
    ...(scenario.users === 'engine' ? {} : { users: [await userOf(scenario.users)] }),
  })
  try {
    const options = {
      port: gateway.port,
      request: requestText({ path: '/engine-rest/version' }),
      connections: 128,
    }
    const warmUp = { ...options, perSecond: Math.min(perSecond, WARM_UP_RATE), seconds: plan.warmUpSeconds }
    await send(warmUp, CORES.load)
    return await sampleOf(async (): Promise<Values> => {
      const before = await verifiedAt(gateway)
      load.startedAt = performance.now()
      const seconds = plan.isQuick ? QUICK_SECONDS : SECONDS
      const result = await send({ ...options, perSecond, seconds }, CORES.load)
      const verified = (await verifiedAt(gateway)) - before
      return { ...result.waits, verified, failed: failuresIn(result) }
    })
  } finally {
    await gateway.stop()
    engine.close()
  }
}

/** Starts an engine with one user, whose password it verifies after a time. */
async function startEngine(verifyMs: () => number) {
  const server = createServer((request, response) => void answer(request, response, verifyMs))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `${urlOf(server, false)}/engine-rest`, close }
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
  if (url.endsWith('/identity/verify')) return `{"authenticatedUser":"${USER}","authenticated":true}`
  if (url.includes('/user?')) return `[{"id":"${USER}"}]`
  if (url.includes('/group?') || url.includes('/tenant?')) return '[]'
  return '{"version":"7.22.0"}'
}

/** Returns a user whose hash is as expensive as `hash-password` makes it, or is a bcrypt hash of cost 12. */
async function userOf(algorithm: 'argon2id' | 'bcrypt') {
  const passwordHash =
    algorithm === 'bcrypt'
      ? await bcrypt.hash(USER, 12)
      : await argon2.hash(USER, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  return { id: USER, passwordHash }
}

/** Returns the number of requests that waited for a verification. */
async function verifiedAt(gateway: Gateway): Promise<number> {
  const text = await metricsOf(gateway)
  const found = text.matchAll(/^gateway_auth_total\{.*?result="verified".*?\} (\d+)$/gm)
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0)
}

if (import.meta.main) await runAlone(renewal)
