import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { authorizationOf, BASE, openGateway } from '../../support/open-gateway.ts'
import { get, head, openSocket, speak } from '../../support/raw.ts'

const held: ServerResponse[] = []
const gateway = await openGateway(t, {
  listen: true,
  engine: ({ url }, response) => {
    response.setHeader('content-type', 'text/plain')
    if (url.includes('held')) held.push(response)
    else response.end('x'.repeat(url.includes('large') ? 200_000 : 10))
  },
})
const { log, origin, dependencies } = gateway

/** Returns the newest access line of the log. */
function lastLine(): Readonly<Record<string, unknown>> | undefined {
  return log.findLast(({ durationMs, stream }) => durationMs !== undefined && stream === undefined)
}

async function metric(name: string): Promise<string | undefined> {
  const lines = (await dependencies.metrics.text()).split('\n')
  return lines.find((line) => line.startsWith(name))
}

/**
 * Returns the number of series of the gateway. Series of Node.js are left out, because one is added after the first garbage collection of
 * each kind.
 */
async function seriesCount(): Promise<number> {
  return (await dependencies.metrics.text()).split('\n').filter((line) => line.startsWith('gateway_')).length
}

/** Runs the action and waits until the log has one more line. */
async function nextLine(act: () => void): Promise<void> {
  const before = log.length
  act()
  while (log.length === before) await new Promise((resolve) => setImmediate(resolve))
}

t.test(
  'every request has one access line with the user, the operation, the engine, the node and the status',
  async (t) => {
    for (const path of ['/version', '/version?large']) {
      const before = log.length
      await speak(origin, get(path))
      t.equal(log.length, before + 1)
      t.match(lastLine(), {
        level: 'info',
        requestId: String,
        operation: 'getRestAPIVersion',
        engine: 'default',
        method: 'GET',
        status: 200,
        user: 'demo',
        node: gateway.engine.base,
        bytes: path.includes('large') ? 200_000 : 10,
      })
    }
  },
)

t.test(
  'a refused request is logged with its reason, and without an engine that it did not reach',
  async (t) => {
    await speak(origin, head(`GET ${BASE}/task/a%00`))
    const line = lastLine()
    t.match(line, { status: 400, error: /^GW_BAD_TARGET: / })
    for (const name of ['operation', 'engine', 'user', 'node']) t.notOk(line?.[name], name)
  },
)

t.test(
  'a request that matches no operation is logged with its path, and other requests are not',
  async (t) => {
    const targets: readonly (readonly [target: string, status: number, path: string])[] = [
      ['/rest/task?password=hush', 404, '/rest/task'],
      [`${BASE}/nosuch?hush`, 404, `${BASE}/nosuch`],
      [`${BASE}/engine/nosuch/tasks`, 404, `${BASE}/engine/nosuch/tasks`],
      [`${BASE}/task/a%00?hush`, 400, `${BASE}/task/a%00`],
      [`${BASE}/../task;p=hush`, 400, `${BASE}/../task;…`],
      [`http://mary:hush@gateway${BASE}/task`, 400, `${BASE}/task`],
      [`/${'a'.repeat(5000)}`, 404, `/${'a'.repeat(254)}…`],
    ]
    for (const [target, status, path] of targets) {
      await speak(origin, head(`GET ${target}`))
      t.match(lastLine(), { status, path }, target)
      t.notMatch(JSON.stringify(lastLine()), 'hush')
    }
    await speak(origin, head(`PATCH ${BASE}/version`))
    t.match(lastLine(), { status: 405, path: `${BASE}/version` })
    await speak(origin, get('/version?hush'))
    t.equal(lastLine()?.['path'], undefined)
  },
)

t.test('the access line contains the length of the body, whichever component wrote it', async (t) => {
  const paths = ['/nosuch', '/task/a%00', '/task?maxResults=x', '/version', '/task', '/process-definition']
  for (const path of paths) {
    const response = await fetch(`${origin}${BASE}${path}`, {
      headers: { authorization: authorizationOf('mary') },
    })
    const { length } = Buffer.from(await response.arrayBuffer())
    t.ok(length > 0, path)
    t.match(lastLine(), { status: response.status, bytes: length }, path)
    const headed = { method: 'HEAD', headers: { authorization: authorizationOf('mary') } }
    await fetch(`${origin}${BASE}${path}`, headed)
    t.match(lastLine(), { method: 'HEAD', bytes: 0 }, path)
  }
})

t.test('a client that disconnects is no longer counted as in flight, and is logged with 499', async (t) => {
  const socket = openSocket(origin)
  socket.write(get('/version?held'))
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.equal(await metric('gateway_requests_in_flight'), 'gateway_requests_in_flight 1')
  await nextLine(() => socket.destroy())
  t.match(lastLine(), { status: 499, operation: 'getRestAPIVersion' })
  t.equal(await metric('gateway_requests_in_flight'), 'gateway_requests_in_flight 0')
})

t.test(
  'a client that disconnects in the middle of its request body is no longer counted as in flight',
  async (t) => {
    const socket = openSocket(origin)
    await once(socket, 'connect')
    const lines = ['Content-Type: application/json', 'Content-Length: 10']
    await nextLine(() => socket.end(`${head(`POST ${BASE}/task`, ...lines)}{`))
    t.equal(await metric('gateway_requests_in_flight'), 'gateway_requests_in_flight 0')
  },
)

t.test('a response that breaks off is logged as incomplete', async (t) => {
  const socket = openSocket(origin)
  held.length = 0
  socket.write(get('/version?held'))
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  held[0]?.writeHead(200, { 'content-length': 200_000 }).write('x'.repeat(100_000))
  await once(socket, 'data')
  await nextLine(() => held[0]?.destroy())
  t.match(lastLine(), { status: 200, error: 'the response was interrupted' })
  t.equal(await metric('gateway_requests_in_flight'), 'gateway_requests_in_flight 0')
})

t.test(
  'metric labels come only from the operation table and the configuration, whatever is requested',
  async (t) => {
    await speak(origin, get('/nosuch-0'))
    await speak(origin, get('/engine/nosuch-0/task'))
    await speak(origin, get('/version?0'))
    const before = await seriesCount()
    for (let number = 1; number <= 30; number += 1) {
      await speak(origin, get(`/nosuch-${number}`))
      await speak(origin, get(`/engine/nosuch-${number}/task`))
      await speak(origin, get(`/version?${number}`))
    }
    t.equal(await seriesCount(), before)
  },
)
