import http from 'node:http'
import t, { type Test } from 'tap'
import { type GatewayProcess, startGatewayProcess } from '../engine/gateway-process.ts'
import { reportOf } from '../engine/two-families.ts'
import { until } from '../support/cache-harness.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

const TASK = JSON.stringify({ id: 'a1', name: 'Review' })
const READS = 200
const IN_FLIGHT = 8
/** The requests that may wait to be compared, and the one that is compared. */
const MOST_WAITING = 33
const HUGE_BYTES = 200 * 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, ' ')
/** More than the gateway needs for a comparison, and less than one huge response. */
const MOST_GROWTH_BYTES = 128 * 1024 * 1024

type Respond = (response: http.ServerResponse) => void

function respondWell(response: http.ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(TASK)
}

/** Starts a node whose behavior the test can change, and kill. */
async function startGroup(t: Test) {
  let respond: Respond = respondWell
  let asked = 0
  const server = http.createServer((_request, response) => {
    asked += 1
    respond(response)
  })
  const url = await listenUntilEnd(t, server)
  const kill = () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    url: `${url}/engine-rest`,
    asked: () => asked,
    kill,
    behave: (next: Respond) => {
      respond = next
    },
  }
}

async function open(t: Test) {
  const [old, next] = [await startGroup(t), await startGroup(t)]
  const gateway = await startGatewayProcess({
    nodes: [
      { url: old.url, group: 'old' },
      { url: next.url, group: 'new' },
    ],
    engine: "shift: { to: new }, compare: { rate: '100%' }",
    settings: 'health: { probe: false }\nlimits: { pressure: { eventLoopDelay: null } }',
  })
  t.teardown(() => gateway.stop())
  await read(t, gateway, IN_FLIGHT)
  await until(async () => (await reportOf(gateway)).results['equal'] === IN_FLIGHT)
  return { next, gateway }
}

/** Sends reads as clients do. Each of them must get the response of the old group. */
async function read(t: Test, { base, headers }: GatewayProcess, count: number): Promise<void> {
  const unexpected: string[] = []
  let left = count
  const client = async () => {
    while (left > 0) {
      left -= 1
      const response = await fetch(`${base}/task/a1`, { headers })
      const text = await response.text()
      if (response.status !== 200 || text !== TASK) unexpected.push(`${response.status} ${text}`)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, client))
  t.same(unexpected, [])
}

t.test('while the compared group is frozen, clients are served and few requests wait', async (t) => {
  const { next, gateway } = await open(t)
  const held: http.ServerResponse[] = []
  next.behave((response) => held.push(response))
  await read(t, gateway, READS)
  const { waiting, results } = await reportOf(gateway)
  t.equal(held.length, 1, 'one request is sent at a time')
  t.equal(waiting, MOST_WAITING)
  t.ok((results['dropped'] ?? 0) >= READS - MOST_WAITING - IN_FLIGHT)
  next.behave(respondWell)
  held.forEach(respondWell)
  await until(async () => (await reportOf(gateway)).waiting === 0)
  t.same((await reportOf(gateway)).differences, [])
})

t.test('after the compared group was killed, clients are served', async (t) => {
  const { next, gateway } = await open(t)
  next.kill()
  await read(t, gateway, READS)
  await until(async () => (await reportOf(gateway)).waiting === 0)
  const { results, differences } = await reportOf(gateway)
  t.ok((results['unanswered'] ?? 0) > 0)
  t.same(differences, [])
})

t.test('while the compared group is a hundred times slower, clients do not wait for it', async (t) => {
  const { next, gateway } = await open(t)
  const before = next.asked()
  next.behave((response) => setTimeout(respondWell, 200, response))
  await read(t, gateway, READS)
  t.ok(next.asked() - before < READS / 2, 'most of the reads are not compared')
  t.ok(((await reportOf(gateway)).results['dropped'] ?? 0) > 0)
})

t.test('invalid responses of the compared group are reported, and clients are served', async (t) => {
  const { next, gateway } = await open(t)
  next.behave(({ socket }) => socket?.end('\0garbage\r\n\r\n'))
  await read(t, gateway, READS)
  await until(async () => (await reportOf(gateway)).waiting === 0)
  t.ok(((await reportOf(gateway)).results['unanswered'] ?? 0) > 0)
})

t.test('a JSON response that is not JSON is a difference', async (t) => {
  const { next, gateway } = await open(t)
  next.behave((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":'))
  await read(t, gateway, IN_FLIGHT)
  await until(async () => (await reportOf(gateway)).waiting === 0)
  t.match((await reportOf(gateway)).differences, [{ operation: 'getTask', place: 'body' }])
})

t.test('a response of 200 MiB is not read, and memory stays bounded', async (t) => {
  const { next, gateway } = await open(t)
  let sentBytes = 0
  let responses = 0
  next.behave((response) => {
    responses += 1
    response.writeHead(200, { 'content-type': 'application/json' })
    let left = HUGE_BYTES
    const send = () => {
      while (left > 0 && !response.destroyed) {
        left -= CHUNK.length
        sentBytes += CHUNK.length
        if (!response.write(CHUNK)) return
      }
      response.end()
    }
    response.on('drain', send)
    send()
  })
  await gateway.forgetPeak()
  const before = await gateway.memory()
  await read(t, gateway, READS)
  await until(async () => (await reportOf(gateway)).waiting === 0)
  const { peakBytes } = await gateway.memory()
  t.comment(
    `${responses} responses, ${sentBytes} bytes sent, ${peakBytes - before.bytes} bytes more memory at most`,
  )
  t.ok(responses > 10)
  t.ok(sentBytes / responses < HUGE_BYTES / 10, 'the gateway stops to read them')
  t.ok(peakBytes - before.bytes < MOST_GROWTH_BYTES)
  const { results, differences } = await reportOf(gateway)
  t.ok((results['unanswered'] ?? 0) > 0)
  t.same(differences, [])
})
