import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Flooded, FloodOptions } from '../load/flood.ts'
import { freePorts, type Server, startServer } from '../servers/processes.ts'
import { median } from '../report/report.ts'

// Measures how long callers with good tokens wait while another client sends tokens with wrong signatures. Each of these tokens is
// different. Rounds without and with the flood alternate, so that other load on the machine affects both.

const PATH = '/engine-rest/version'
const AUDIENCE = 'gateway'
/** The time between two requests with a good token. */
const EVERY_MS = 20
const ROUND_SECONDS = 5

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      alg: { type: 'string', default: 'ES256' },
      'per-second': { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '5' },
    },
  })
  const { privateKey, publicKey } = await generateKeyPair(values.alg, { extractable: true })
  const issuer = await startIssuer({ ...(await exportJWK(publicKey)), kid: 'a', alg: values.alg, use: 'sig' })
  const token = await new SignJWT({ sub: 'good' })
    .setProtectedHeader({ alg: values.alg, kid: 'a' })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setExpirationTime('1h')
    .sign(privateKey)
  const directory = mkdtempSync(join(tmpdir(), 'engine-gateway-bench-'))
  const [port = 0, adminPort = 0] = await freePorts(2)
  const gateway = await startGateway({ directory, issuer, port, adminPort })
  try {
    await latencies(port, token)
    const [header = '', claims = '', signature = ''] = token.split('.')
    const options = {
      port,
      path: PATH,
      signed: `${header}.${claims}`,
      signatureBytes: Buffer.from(signature, 'base64url').length,
      perSecond: Number(values['per-second']),
      seconds: ROUND_SECONDS + 2,
    }
    const ratios: number[] = []
    for (let round = 0; round < Number(values.rounds); round += 1)
      ratios.push(await measureRound(token, options, gateway))
    process.stdout.write(`p99 with the flood over p99 without: ${median(ratios).toFixed(2)}x\n`)
  } finally {
    await gateway.stop()
    rmSync(directory, { recursive: true })
  }
}

async function measureRound(token: string, options: FloodOptions, gateway: Server): Promise<number> {
  const quiet = await latencies(options.port, token)
  const cpuBefore = gateway.cpuSeconds()
  const worker = new Worker(new URL('../load/flood.ts', import.meta.url), { workerData: options })
  const told = new Promise<Flooded>((resolve) => worker.once('message', resolve))
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const flooded = await latencies(options.port, token)
  const { sent, answered, statuses } = await told
  const cpuMicros = ((gateway.cpuSeconds() - cpuBefore) / answered) * 1e6
  process.stdout.write(
    `without ${textOf(quiet)}; with ${textOf(flooded)}; ` +
      `flood: ${Math.round(answered / options.seconds)} answers/s (${JSON.stringify(statuses)} of ${sent}), ` +
      `${cpuMicros.toFixed(0)} µs CPU each\n`,
  )
  return percentile(flooded, 0.99) / percentile(quiet, 0.99)
}

function textOf(ms: readonly number[]): string {
  return `p50 ${percentile(ms, 0.5).toFixed(2)} p99 ${percentile(ms, 0.99).toFixed(2)} ms`
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? Number.NaN
}

/** Returns the latencies of one round in milliseconds, sorted. @throws Error if a response is not successful */
async function latencies(port: number, token: string): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const asked: Promise<number>[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < ROUND_SECONDS * 1000) {
    asked.push(ask(port, token, agent))
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  }
  const ms = await Promise.all(asked)
  agent.destroy()
  return ms.toSorted((one, other) => one - other)
}

function ask(port: number, token: string, agent: Agent): Promise<number> {
  const startedAt = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const sent = request({ host: '127.0.0.1', port, path: PATH, headers, agent }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt)
        else reject(new Error(`a good caller was answered ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function startIssuer(jwk: JWK): Promise<string> {
  const server = createServer((asked, response) => {
    const document = asked.url === '/keys' ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  const url = await listening(server)
  return url
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

interface GatewayOptions {
  readonly directory: string
  readonly issuer: string
  readonly port: number
  readonly adminPort: number
}

async function startGateway({ directory, issuer, port, adminPort }: GatewayOptions): Promise<Server> {
  const engine = await listening(
    createServer((_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"7.22.0"}')
    }),
  )
  const file = (name: string, content: unknown): string => {
    writeFileSync(join(directory, name), JSON.stringify(content))
    return join(directory, name)
  }
  const config = {
    version: 1,
    listen: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: adminPort },
    engines: { default: { nodes: [`${engine}/engine-rest`] } },
    identity: {
      source: 'file',
      file: file('users.yaml', { users: [] }),
      tokens: { issuers: [{ name: 'bench', issuer, audience: [AUDIENCE] }] },
    },
    authorization: { records: { source: 'file', file: file('records.yaml', { authorizations: [] }) } },
  }
  const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  return startServer({
    command: [
      process.execPath,
      '--max-semi-space-size=8',
      '--no-allocation-site-pretenuring',
      entry,
      '--config',
      file('gateway.yaml', config),
    ],
    port,
    output: openSync(join(directory, 'gateway.log'), 'w'),
  })
}

await main()
process.exit()
