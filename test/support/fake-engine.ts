import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import type { Test } from 'tap'
import { GatewayError } from '../../src/errors.ts'
import type { AttemptEvent, UpstreamRequest } from '../../src/proxy/wire/upstream-request.ts'
import type { RelayResult } from '../../src/proxy/wire/upstream-request.ts'
import { createUpstream, type UpstreamOptions } from '../../src/proxy/create-upstream.ts'
import type { Upstream } from '../../src/proxy/upstream.ts'
import { urlOf } from '../../src/tls/listener-url.ts'
import { listenUntilEnd } from './listen-until-end.ts'

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export interface FakeNode {
  readonly url: string
  readonly seen: Seen[]
}

/** Starts a node that speaks correct HTTP. */
export async function startNode(
  t: Test,
  answer: (request: Seen, response: http.ServerResponse) => void = (_request, response) => {
    response.end('{}')
  },
): Promise<FakeNode> {
  const seen: Seen[] = []
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request
      const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) }
      seen.push(one)
      answer(one, response)
    })
  })
  return { url: await listenUntilEnd(t, server), seen }
}

/** Starts a node for which the test decides every byte. `hear` is called for each chunk of bytes that arrives, with the number of chunks so far. */
export async function startRawNode(
  t: Test,
  hear: (socket: net.Socket, count: number) => void,
): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = []
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard.push(bytes.toString('latin1'))
      hear(socket, heard.length)
    })
  })
  return { url: await listenUntilEnd(t, server), heard }
}

/** Returns an address at which no server listens. */
export async function refusingUrl(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = urlOf(server, false)
  server.close()
  await once(server, 'close')
  return url
}

export interface Opened {
  readonly upstream: Upstream
  readonly attempts: AttemptEvent[]
}

export function openUpstream(
  t: Test,
  nodes: UpstreamOptions['nodes'],
  options: Partial<UpstreamOptions> = {},
): Opened {
  const attempts: AttemptEvent[] = []
  const upstream = createUpstream({
    engine: 'default',
    nodes,
    credentials: 'none',
    host: 'client',
    timeouts: { connectMs: 500, headersMs: 5000, bodyMs: 5000 },
    connections: 8,
    random: () => 0, // chooses the first of equal nodes
    onAttempt: (event) => attempts.push(event),
    ...options,
  })
  t.teardown(() => upstream.close())
  return { upstream, attempts }
}

export const READ: UpstreamRequest = {
  method: 'GET',
  path: '/task/x',
  headers: {},
  body: null,
  retry: 'always',
}
export const WRITE: UpstreamRequest = {
  method: 'POST',
  path: '/task/create',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"name":"a"}'),
  retry: 'unsent',
}

/** A response as the client receives it. */
export interface Heard {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

export interface RelayListener {
  readonly port: number
  readonly relayed: (RelayResult | GatewayError)[]
  /** Resolves when the next relay has ended. */
  readonly over: () => Promise<RelayResult | GatewayError>
}

/** Starts a listener like the gateway's own, which only relays `upstreamRequest`. */
export async function listenAndRelay(
  t: Test,
  upstream: Upstream,
  upstreamRequest: UpstreamRequest,
): Promise<RelayListener> {
  const relayed: (RelayResult | GatewayError)[] = []
  const waiting: ((result: RelayResult | GatewayError) => void)[] = []
  const server = http.createServer((request, response) => {
    request.resume()
    void upstream
      .relay(upstreamRequest, response, { 'X-Request-Id': 'r-1' })
      .catch((error: GatewayError) => {
        response.writeHead(error.statusCode, { 'x-gateway-error': error.code }).end()
        return error
      })
      .then((result) => {
        relayed.push(result)
        waiting.shift()?.(result)
      })
  })
  const url = new URL(await listenUntilEnd(t, server))
  return {
    port: Number(url.port),
    relayed,
    over: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

export async function ask(port: number, method = 'GET'): Promise<Heard> {
  const response = await responseOf(askFor(port, method))
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(response, 'end')
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }
}

/** Sends a request on its own connection. */
export function askFor(port: number, method = 'GET'): http.ClientRequest {
  return http.request({ port, host: '127.0.0.1', method, agent: false }).end()
}

export function responseOf(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => request.on('response', resolve).on('error', reject))
}

/** Returns the `GatewayError` with which the promise rejects. Throws if it does not reject. */
export async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it did not reject')
}
