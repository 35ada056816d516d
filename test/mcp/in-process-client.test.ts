import { IncomingMessage, type RequestListener } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { createInProcessClient } from '../../src/mcp/in-process-client.ts'
import { clientSocketOf, type ToolCall, type ToolCalls } from '../../src/mcp/tool-calls.ts'

const GET = { method: 'GET', target: '/task?a=b', body: null, headers: { host: 'gateway' } }

/** Creates the client of a listener, and a call by a client with an address. */
function createClient(handle: RequestListener, maxBytes = 1000) {
  const calls: ToolCalls = new WeakMap()
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.1' })
  const call: ToolCall = { tool: 'getTask', client: new IncomingMessage(socket) }
  return { calls, call, client: createInProcessClient(handle, { calls, maxBytes }) }
}

t.test('the listener gets the request, the address, the call and the connection of the client', async (t) => {
  const { calls, call, client } = createClient((request, response) => {
    t.equal(request.url, '/task?a=b')
    t.equal(request.method, 'PUT')
    t.match(request.headers, { host: 'gateway', 'content-type': 'application/json', 'content-length': '2' })
    t.equal(request.socket.remoteAddress, '192.0.2.1')
    t.equal(calls.get(request.socket), call)
    t.equal(clientSocketOf(request, calls), call.client.socket)
    request.pipe(response.writeHead(201, { 'content-type': 'application/json' }))
  })
  const { signal } = new AbortController()
  const response = await client(call, { ...GET, method: 'PUT', body: Buffer.from('{}'), signal })
  t.match(response, { status: 201, isCut: false })
  t.equal(response.body.toString(), '{}')
})

t.test('a request of another connection has no call, and its own connection', (t) => {
  const { calls } = createClient(() => {})
  const request = new IncomingMessage(new Socket())
  t.equal(clientSocketOf(request, calls), request.socket)
  t.equal(clientSocketOf(request, undefined), request.socket)
  t.end()
})

t.test('a long body is cut, and its sender stops', async (t) => {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const { call, client } = createClient((_request, response) => {
    response.once('close', close)
    response.writeHead(200, { 'content-type': 'text/plain' })
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1024)));
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  })
  const response = await client(call, { ...GET, signal: new AbortController().signal })
  t.match(response, { status: 200, isCut: true })
  t.equal(response.body.length, 1000)
  await closed
})

t.test('bytes that are no text are not read', async (t) => {
  const { call, client } = createClient((_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(10))
  })
  const response = await client(call, { ...GET, signal: new AbortController().signal })
  t.match(response, { isCut: true, body: Buffer.alloc(0) })
})

t.test('a client that leaves ends the request', async (t) => {
  const abort = new AbortController()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const { call, client } = createClient((_request, response) => {
    response.once('close', close)
    abort.abort()
  })
  await t.rejects(client(call, { ...GET, signal: abort.signal }), { name: 'AbortError' })
  await closed
})

t.test('a listener that ends the connection is an error', async (t) => {
  const { call, client } = createClient((request) => void request.socket.destroy())
  await t.rejects(client(call, { ...GET, signal: new AbortController().signal }))
})
