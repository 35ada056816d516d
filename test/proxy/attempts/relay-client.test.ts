import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import {
  askFor,
  listenAndRelay,
  openUpstream,
  READ,
  responseOf,
  startNode,
  WRITE,
} from '../../support/fake-engine.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('a slow client slows the node down instead of filling memory', async (t) => {
  const total = 64 * 1024 * 1024
  let written = 0
  const node = await startNode(t, (_request, response) => {
    const chunk = Buffer.alloc(64 * 1024)
    const more = (): void => {
      while (written < total) {
        written += chunk.length
        if (!response.write(chunk)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  const { upstream } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  const request = askFor(listener.port)
  const response = await responseOf(request)
  let before = -1
  while (before !== written) {
    before = written
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.ok(written < total / 2, `stopped after ${written} bytes`)
  let read = 0
  response.on('data', (chunk: Buffer) => {
    read += chunk.length
  })
  await once(response, 'end')
  t.equal(read, total)
})

t.test('the connection of a client that stops reading is closed, and the node is released', async (t) => {
  const node = await startNode(t, (_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024)))
  const { upstream, attempts } = openUpstream(t, [node.url], {
    timeouts: { connectMs: 500, headersMs: 5000, bodyMs: 100 },
  })
  const listener = await listenAndRelay(t, upstream, READ)
  const over = listener.over()
  const request = askFor(listener.port)
  await responseOf(request)
  t.match(await over, { status: 200, ended: 'client-gone' })
  t.match(attempts, [{ result: 'cancelled' }])
})

t.test('a read is cancelled if its client disconnects', async (t) => {
  const closed: Promise<unknown>[] = []
  const node = await startNode(t, (_request, response) => closed.push(once(response, 'close')))
  const { upstream, attempts } = openUpstream(t, [node.url, node.url])
  const listener = await listenAndRelay(t, upstream, READ)
  const over = listener.over()
  const request = askFor(listener.port)
  request.on('error', () => {})
  while (node.seen.length === 0) await turn()
  request.destroy()
  t.match(await over, { status: 499, ended: 'client-gone', bytes: 0 })
  await Promise.all(closed)
  t.equal(node.seen.length, 1, 'and is not repeated elsewhere')
  t.match(attempts, [{ result: 'cancelled' }])
})

t.test('a read is never sent if its client disconnected while it was queued', async (t) => {
  const held: ServerResponse[] = []
  const node = await startNode(t, (_request, response) => held.push(response))
  const { upstream } = openUpstream(t, [node.url], { connections: 1 })
  const first = upstream.fetch(WRITE, 10)
  while (held.length === 0) await turn()
  const listener = await listenAndRelay(t, upstream, READ)
  const over = listener.over()
  const request = askFor(listener.port)
  request.on('error', () => {})
  await once(request, 'socket')
  await new Promise((resolve) => setTimeout(resolve, 30))
  request.destroy()
  t.match(await over, { status: 499 })
  held[0]?.end()
  await first
  const next = upstream.fetch(WRITE, 10)
  while (held.length < 2) await turn()
  held[1]?.end()
  await next
  t.same(
    node.seen.map(({ method }) => method),
    ['POST', 'POST'],
  )
})

t.test('a write continues after its client has disconnected', async (t) => {
  const held: ServerResponse[] = []
  const node = await startNode(t, (_request, response) => held.push(response))
  const { upstream, attempts } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, WRITE)
  const over = listener.over()
  const request = askFor(listener.port, 'POST')
  request.on('error', () => {})
  while (held.length === 0) await turn()
  request.destroy()
  await new Promise((resolve) => setTimeout(resolve, 30))
  t.equal(held[0]?.destroyed, false)
  held[0]?.end(Buffer.alloc(1_000_000))
  t.match(await over, { status: 200, ended: 'client-gone', bytes: 0 })
  t.match(attempts, [{ result: 'ok', status: 200 }])
})

t.test('the rest of a large response is drained if the client of a write disconnects', async (t) => {
  const node = await startNode(t, (_request, response) => response.end(Buffer.alloc(32 * 1024 * 1024)))
  const { upstream, attempts } = openUpstream(t, [node.url])
  const listener = await listenAndRelay(t, upstream, WRITE)
  const over = listener.over()
  const request = askFor(listener.port, 'POST')
  const response = await responseOf(request)
  response.on('error', () => {})
  response.destroy()
  t.match(await over, { ended: 'client-gone' })
  t.match(attempts, [{ result: 'ok' }])
})

t.test('a read is not sent if its client has disconnected, a write is', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url])
  const gone = new ServerResponse(new IncomingMessage(new Socket()))
  gone.destroy()
  t.match(await upstream.relay(READ, gone, {}), { status: 499, ended: 'client-gone' })
  t.match(await upstream.relay(WRITE, gone, {}), { status: 200, ended: 'client-gone' })
  t.same(
    node.seen.map(({ method }) => method),
    ['POST'],
  )
})
