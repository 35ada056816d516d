import { once } from 'node:events'
import { crc32 } from 'node:zlib'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { until } from '../support/cache-harness.ts'
import { authorizationOf, BASE, openGateway } from '../support/open-gateway.ts'
import { openSocket } from '../support/raw.ts'
import { startRedis } from '../support/redis.ts'
import { redisSkip } from '../support/requirements.ts'

const DIAGRAM = `GET ${BASE}/decision-definition/key/discount/diagram`
const START = `POST ${BASE}/process-definition/key/review/start`
const NAMESPACE = 'forged'
const HEAD_AT = 12

/** Headers that a gateway would send to a client if it trusted them from Redis. */
const FORGED: Readonly<Record<string, string | string[]>> = {
  'set-cookie': 'session=of-another',
  connection: 'close, x-forged',
  'transfer-encoding': 'chunked',
  'content-length': '3',
  'access-control-allow-origin': '*',
  location: 'https://elsewhere.example',
  'x-forged': ['1', '2'],
}

/** Opens two gateways with one engine that counts its requests in its responses. */
async function open(t: Test, signingKeys: readonly string[] = []) {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const control = new Redis(redis.url)
  t.teardown(() => control.disconnect())
  let count = 0
  // One node, so that both gateways have the same keys.
  const first = await openGateway(t, {
    listen: true,
    settings: settingsOf(redis.url, signingKeys),
    engine: ({ url }, response) => {
      count += 1
      response.setHeader('content-type', url.endsWith('/diagram') ? 'image/png' : 'application/json')
      response.end(`{"answer":${count}}`)
    },
  })
  const second = await openGateway(t, {
    listen: true,
    settings: { ...settingsOf(redis.url, signingKeys), engines: enginesAt(first.engine.base) },
  })
  return { control, first, second, answered: () => count }
}

function settingsOf(url: string, signingKeys: readonly string[]) {
  // Without a key the setting is left out, so that the test also runs against a gateway that does not know it.
  const cache = { redis: url, ...(signingKeys.length > 0 ? { signingKeys } : {}) }
  return { cache, idempotency: { namespace: NAMESPACE }, health: { probe: false } }
}

function enginesAt(base: string) {
  return { default: { nodes: [base] }, second: { nodes: [base], remoteName: 'second' } }
}

/** Returns the bytes of one response, on a new connection. */
async function say(origin: string, line: string, more = ''): Promise<string> {
  const socket = openSocket(origin)
  const body = line.startsWith('POST') ? '{}' : ''
  const head = [
    `${line} HTTP/1.1`,
    'host: gateway',
    `authorization: ${authorizationOf('demo')}`,
    'connection: close',
    ...(body === '' ? [] : ['content-type: application/json', `content-length: ${body.length}`]),
    ...(more === '' ? [] : [more]),
  ]
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => void chunks.push(chunk))
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

function occurrences(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0
}

/** Returns the value of a cached response with another head and a correct checksum. */
function withHead(
  value: Buffer,
  skipped: number,
  change: (head: Record<string, unknown>) => unknown,
): Buffer {
  const plain = value.subarray(skipped)
  const bodyAt = HEAD_AT + plain.readUInt32BE(8)
  const head = Buffer.from(JSON.stringify(change(JSON.parse(plain.subarray(HEAD_AT, bodyAt).toString()))))
  const forged = Buffer.concat([plain.subarray(0, HEAD_AT), head, plain.subarray(bodyAt)])
  forged.writeUInt32BE(head.length, 8)
  forged.writeUInt32BE(crc32(forged.subarray(8)), 4)
  return Buffer.concat([value.subarray(0, skipped), forged])
}

async function putForged(
  control: Redis,
  glob: string,
  forge: (value: Buffer) => Buffer,
): Promise<{ readonly name: string; readonly value: Buffer }> {
  const [name = ''] = await control.keys(glob)
  const value = forge((await control.getBuffer(name)) ?? Buffer.alloc(0))
  await control.set(name, value, 'KEEPTTL')
  return { name, value }
}

const CACHED = 'engine-gateway:*:entry:*'
const CORRUPT = 'gateway_cache_requests_total{tier="redis",result="corrupt"} 1'

t.test('forged values in Redis', { skip: redisSkip }, async (t) => {
  t.test('forged hop-by-hop headers, lengths and cookies of a cached response reach no client', async (t) => {
    const { control, first, second } = await open(t)
    await say(first.origin, DIAGRAM)
    await until(async () => (await control.keys(CACHED)).length === 1)
    const headers = { 'content-type': 'text/html', ...FORGED }
    const { name, value } = await putForged(control, CACHED, (was) =>
      withHead(was, 0, (head) => ({ ...head, headers })),
    )
    const text = await say(second.origin, DIAGRAM)
    t.match(text, /^HTTP\/1\.1 200 .*"answer":2/s, 'the engine is asked')
    t.notMatch(text, /set-cookie|transfer-encoding|x-forged|allow-origin|location|text\/html/i)
    t.equal(occurrences(text, /^content-length:/gim), 1)
    t.match(await second.dependencies.metrics.text(), CORRUPT)
    await until(async () => !((await control.getBuffer(name)) ?? value).equals(value))
  })

  t.test('forged headers of a replayed response reach no client, and nothing is repeated', async (t) => {
    const { control, first, second, answered } = await open(t)
    await say(first.origin, START, 'idempotency-key: a')
    await putForged(control, `engine-gateway:${NAMESPACE}:once:*`, (value) => {
      const end = value.indexOf('\n')
      const record = JSON.parse(value.subarray(0, end).toString())
      record.answer.headers = { ...record.answer.headers, ...FORGED }
      return Buffer.concat([Buffer.from(JSON.stringify(record)), value.subarray(end)])
    })
    const text = await say(second.origin, START, 'idempotency-key: a')
    t.match(text, /^HTTP\/1\.1 502 .*x-gateway-error: GW_OUTCOME_UNKNOWN/s)
    t.notMatch(text, /set-cookie|transfer-encoding|x-forged|allow-origin|location/i)
    t.equal(occurrences(text, /^content-length:/gim), 1)
    t.equal(answered(), 1)
    t.match(
      await second.dependencies.metrics.text(),
      'gateway_idempotent_requests_total{engine="default",result="unreadable"} 1',
    )
  })

  t.test('with a signing key, a value that is not signed with it is not used', async (t) => {
    const { control, first, second, answered } = await open(t, ['k'.repeat(32)])
    await say(first.origin, DIAGRAM)
    await until(async () => (await control.keys(CACHED)).length === 1)
    await putForged(control, CACHED, (value) =>
      withHead(value, 32, (head) => ({ ...head, headers: { 'content-type': 'text/html' } })),
    )
    const text = await say(second.origin, DIAGRAM)
    t.match(text, /"answer":2/)
    t.notMatch(text, 'text/html')
    t.match(await second.dependencies.metrics.text(), CORRUPT)
    await say(first.origin, START, 'idempotency-key: a')
    await putForged(control, `engine-gateway:${NAMESPACE}:once:*`, (value) => {
      value.writeUInt8((value.at(-2) ?? 0) ^ 1, value.length - 2)
      return value
    })
    t.match(await say(second.origin, START, 'idempotency-key: a'), /^HTTP\/1\.1 502 /)
    t.equal(answered(), 3)
  })

  t.test('with a signing key, an unchanged value is used', async (t) => {
    const { control, first, second, answered } = await open(t, ['k'.repeat(32)])
    await say(first.origin, DIAGRAM)
    await until(async () => (await control.keys(CACHED)).length === 1)
    t.match(await say(second.origin, DIAGRAM), /detail=redis.*"answer":1/s)
    await say(first.origin, START, 'idempotency-key: a')
    t.match(await say(second.origin, START, 'idempotency-key: a'), /^HTTP\/1\.1 200 .*"answer":2/s)
    t.equal(answered(), 2)
  })
})
