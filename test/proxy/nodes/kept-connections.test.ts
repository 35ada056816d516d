import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { UpstreamRequest } from '../../../src/proxy/wire/upstream-request.ts'
import { KeepAlive } from '../../../src/proxy/nodes/keep-alive.ts'
import {
  askFor,
  listenAndRelay,
  openUpstream,
  READ,
  refusalOf,
  startNode,
  startRawNode,
  WRITE,
} from '../../support/fake-engine.ts'
import { watch } from '../../support/watch-nodes.ts'

const LIMIT = 1_000_000
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'

interface KeepingNode {
  readonly url: string
  readonly heard: readonly string[]
  /** Resets every connection without a request in flight. */
  readonly resetIdle: () => void
}

async function startKeepingNode(t: Test): Promise<KeepingNode> {
  const idle = new Set<Socket>()
  const node = await startRawNode(t, (socket) => {
    idle.add(socket)
    socket.write(OK)
  })
  const resetIdle = (): void => {
    for (const socket of idle) socket.resetAndDestroy()
    idle.clear()
  }
  return { ...node, resetIdle }
}

for (const [when, turn] of [
  ['before it is written', () => new Promise((resolve) => setImmediate(resolve))],
  ['as it is written', () => wait(1)],
] as const) {
  t.test(
    `a request is sent on another connection if an idle connection of the only node is reset ${when}`,
    async (t) => {
      for (const upstreamRequest of [READ, WRITE]) {
        const node = await startKeepingNode(t)
        const { upstream, events } = watch(t, [node.url])
        t.match(await upstream.fetch(upstreamRequest, LIMIT), { status: 200 })
        for (let i = 1; i <= 20; i += 1) {
          await turn()
          node.resetIdle()
          t.match(await upstream.fetch(upstreamRequest, LIMIT), { status: 200 })
          t.equal(node.heard.length, 1 + i, 'sent once')
        }
        t.same(events, [], 'and the node is not blamed')
      }
    },
  )
}

t.test(
  'a write that is reset after it was written is not retried, and later writes use dedicated connections',
  async (t) => {
    const node = await startRawNode(t, (socket, count) => {
      if (count === 2) socket.resetAndDestroy()
      else socket.write(OK)
    })
    const { upstream, events, clock } = watch(t, [node.url], { connections: 1 })
    const isKept = (): boolean => node.heard.at(-1)?.includes('connection: keep-alive') === true
    await upstream.fetch(WRITE, LIMIT)
    t.match(await refusalOf(upstream.fetch(WRITE, LIMIT)), { code: 'GW_OUTCOME_UNKNOWN' })
    t.equal(node.heard.length, 2)
    for (const [upstreamRequest, atMs, keeps] of [
      [WRITE, 0, false],
      [READ, 0, true],
      [WRITE, 9999, false],
      [WRITE, 10_000, true],
    ] as const) {
      clock.nowMs = atMs
      t.match(await upstream.fetch(upstreamRequest, LIMIT), { status: 200 })
      t.equal(isKept(), keeps, `${upstreamRequest.method} at ${atMs} ms`)
    }
    t.same(events, [])
  },
)

t.test('a read whose keep-alive connection breaks goes to another node if one exists', async (t) => {
  const node = await startRawNode(t, (socket, count) => {
    if (count === 1) socket.write(OK)
    else socket.resetAndDestroy()
  })
  const other = await startNode(t)
  const { upstream, events } = watch(t, [node.url, other.url], { connections: 1 })
  for (let i = 0; i < 2; i += 1) t.match(await upstream.fetch(READ, LIMIT), { status: 200 })
  t.same([node.heard.length, other.seen.length], [2, 1])
  t.same(events, [])
})

t.test('a node that breaks new connections is still ejected', async (t) => {
  const node = await startRawNode(t, (socket) => socket.resetAndDestroy())
  const { upstream, events } = watch(t, [node.url])
  for (let i = 0; i < 3; i += 1) await refusalOf(upstream.fetch(READ, LIMIT))
  t.match(events, [{ node: node.url, reason: 'reset' }])
})

t.test('dedicated connections are bounded because each blocks a port for a minute', (t) => {
  const keepAlive = new KeepAlive()
  t.notOk(keepAlive.takeDedicated(0), 'nothing was lost')
  keepAlive.onStale(0)
  let taken = 0
  while (keepAlive.takeDedicated(0)) taken += 1
  t.equal(taken, 10_000)
  for (let atMs = 0; atMs < 1000; atMs += 1) if (keepAlive.takeDedicated(atMs)) taken += 1
  t.ok(taken <= 10_150, `${taken}`)
  t.notOk(keepAlive.takeDedicated(10_000))
  t.end()
})

/** The number of requests that a node received, by path. */
type Heard = ReadonlyMap<string, number>

async function startResettingNode(
  t: Test,
): Promise<{ readonly url: string; readonly heard: Heard; readonly resets: () => number }> {
  const heard = new Map<string, number>()
  const timers = new Map<Socket, NodeJS.Timeout>()
  let resets = 0
  const reset = (socket: Socket): void => {
    if (!socket.destroyed) resets += 1
    socket.resetAndDestroy()
  }
  const { url, heard: bytes } = await startRawNode(t, (socket) => {
    clearTimeout(timers.get(socket))
    const [, path = ''] = /^\S+ (\S+)/.exec(bytes.at(-1) ?? '') ?? []
    heard.set(path, (heard.get(path) ?? 0) + 1)
    setTimeout(() => {
      socket.write(OK)
      timers.set(socket, setTimeout(reset, Math.random() * 10, socket))
    }, Math.random() * 3)
  })
  return { url, heard, resets: () => resets }
}

t.test(
  'at most 3 of 1,500 requests fail if nodes reset idle connections all the time, and no write is sent twice',
  async (t) => {
    for (const count of [1, 2]) {
      // Writes that are in flight at the first reset are lost. If this process is late, more writes are in flight at that moment.
      const lost = [await loseAmongResets(t, count)]
      if ((lost[0] ?? 0) > 3) lost.push(await loseAmongResets(t, count))
      t.ok(Math.min(...lost) <= 3, `${lost.join(', then ')} of 1500 failed with ${count} nodes`)
    }
  },
)

/** Returns how many of 1,500 requests fail. Half of them are writes. */
async function loseAmongResets(t: Test, count: number): Promise<number> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startResettingNode(t)))
  const urls = nodes.map(({ url }) => url)
  const { upstream } = openUpstream(t, urls, { connections: 40, random: Math.random })
  let failed = 0
  let next = 0
  const ask = async (): Promise<void> => {
    for (let i = next++; i < 1500; i = next++) {
      const upstreamRequest: UpstreamRequest = i % 2 === 0 ? READ : WRITE
      await upstream
        .fetch({ ...upstreamRequest, path: `/${upstreamRequest.method}/${i}` }, LIMIT)
        .catch(() => (failed += 1))
      await wait(Math.random() * 10)
    }
  }
  await Promise.all(Array.from({ length: 20 }, ask))
  t.ok(
    nodes.every(({ resets }) => resets() > 50),
    `${nodes.map(({ resets }) => resets()).join()} resets`,
  )
  const writes = nodes.flatMap(({ heard }) => [...heard.keys()].filter((path) => path.startsWith('/POST')))
  t.equal(new Set(writes).size, writes.length)
  t.ok(
    nodes.every(({ heard }) => [...heard].every(([path, times]) => times === 1 || path.startsWith('/GET'))),
  )
  return failed
}

t.test('a client that aborts a read does not make later writes open new connections', async (t) => {
  const connections = new Set<Socket | null>()
  const node = await startNode(t, (request, response) => {
    connections.add(response.socket)
    if (request.method !== 'GET') response.end('{}')
  })
  const { upstream, attempts } = openUpstream(t, [node.url], { connections: 1 })
  // The read runs on a reused connection, as almost every request does.
  await upstream.fetch(WRITE, LIMIT)
  const listener = await listenAndRelay(t, upstream, READ)
  const over = listener.over()
  const request = askFor(listener.port)
  request.on('error', () => {})
  while (node.seen.length < 2) await wait(1)
  request.destroy()
  t.match(await over, { status: 499 })
  connections.clear()
  for (let i = 0; i < 20; i += 1) t.match(await upstream.fetch(WRITE, LIMIT), { status: 200 })
  t.equal(connections.size, 1, 'all writes use one connection')
  t.match(attempts[1], { result: 'cancelled', endedBy: 'client' })
})
