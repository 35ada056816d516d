import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { numberOf } from '../arguments.ts'
import type { Flooded, FloodOptions } from '../load/flood.ts'
import { failuresIn, requestText, send } from '../load/send.ts'
import { interleave, OWN, type Part, type Values } from '../part.ts'
import { runAlone } from '../run-part.ts'
import { type Gateway, startGateway } from '../servers/gateway.ts'
import { ANY_CORE, CORES, startScript } from '../servers/processes.ts'
import { urlOf } from '../../src/tls/listener-url.ts'

const PATH = '/engine-rest/process-definition/key/invoice'
const AUDIENCE = 'gateway'
const GOOD_PER_SECOND = 50
const RECORD = { type: 1, userId: 'good', resourceType: 6, resourceId: 'invoice', permissions: ['READ'] }

/** The waits of callers with good tokens during a flood of bad tokens. */
export const badTokens: Part = {
  name: 'bad-tokens',
  title: 'A flood of bad tokens',
  measures:
    'A caller with a good token sends 50 requests a second, without and with a flood. The flood has 256 connections. Each of them sends a ' +
    'token with another wrong signature as soon as it has the response to the last one, at most 10,000 a second in total.',
  columns: [
    { key: 'p50', title: 'p50', unit: 'ms' },
    { key: 'p99', title: 'p99', unit: 'ms' },
    { key: 'failed', title: 'failed', unit: 'number' },
    { key: 'floodPerSecond', title: 'responses to the flood per second', unit: 'number' },
    { key: 'floodMicros', title: 'CPU time for each', unit: 'µs' },
  ],
  isLeftOutOfQuick: true,
  options: { alg: 'ES256', 'per-second': '10000' },
  run: async (plan) => {
    const { isQuick, options, rounds } = plan
    const perSecond = numberOf('per-second', options['per-second'] ?? '')
    const alg = options['alg'] ?? 'ES256'
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const issuer = await startIssuer({ ...(await exportJWK(publicKey)), kid: 'a', alg, use: 'sig' })
    const token = await new SignJWT({ sub: 'good' })
      .setProtectedHeader({ alg, kid: 'a' })
      .setIssuer(issuer.url)
      .setAudience(AUDIENCE)
      .setExpirationTime('1h')
      .sign(privateKey)
    const stub = await startScript('stub.ts', CORES.load)
    const gateway = await startGateway({
      directory: plan.directory,
      checkout: plan.gateways.at(-1)?.path ?? '',
      core: ANY_CORE,
      nodes: [`http://127.0.0.1:${stub.port}/engine-rest`],
      settings: {
        identity: {
          source: 'file',
          file: 'users.yaml',
          tokens: { issuers: [{ name: 'bench', issuer: issuer.url, audience: [AUDIENCE] }] },
        },
      },
      records: [RECORD],
    })
    const seconds = isQuick ? 2 : 5
    const quiet = () => sendGood(gateway, token, seconds)
    await quiet()
    const [header = '', claims = '', signature = ''] = token.split('.')
    const flood = {
      port: gateway.port,
      path: PATH,
      signed: `${header}.${claims}`,
      signatureBytes: Buffer.from(signature, 'base64url').length,
      perSecond,
      seconds: seconds + 2,
    }
    const trials = [
      { case: 'without a flood', server: OWN, measure: quiet },
      { case: 'with a flood', server: OWN, measure: () => measureFlood(gateway, flood, quiet) },
    ]
    const rows = await interleave(trials, Math.ceil(rounds * 0.6))
    issuer.close()
    return rows
  },
}

async function sendGood({ port }: Gateway, token: string, seconds: number): Promise<Values> {
  const request = requestText({ path: PATH, headers: { authorization: `Bearer ${token}` } })
  const result = await send(
    { port, request, perSecond: GOOD_PER_SECOND, seconds, connections: 8 },
    CORES.load,
  )
  return { ...result.waits, failed: failuresIn(result) }
}

async function measureFlood(
  gateway: Gateway,
  options: FloodOptions,
  sendOthers: () => Promise<Values>,
): Promise<Values> {
  const before = gateway.cpuSeconds()
  const worker = new Worker(new URL('../load/flood.ts', import.meta.url), { workerData: options })
  const told = new Promise<Flooded>((resolve) => worker.once('message', resolve))
  await wait(1000)
  const values = await sendOthers()
  const { answered } = await told
  return {
    ...values,
    floodPerSecond: answered / options.seconds,
    floodMicros: ((gateway.cpuSeconds() - before) / answered) * 1e6,
  }
}

async function startIssuer(jwk: JWK) {
  const server = createServer((asked, response) => {
    const document = asked.url === '/keys' ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = urlOf(server, false)
  return { url, close: () => server.close() }
}

if (import.meta.main) await runAlone(badTokens)
