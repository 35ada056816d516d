import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { answer } from './answer.ts'
import { html, readBytes, send } from './http.ts'
import type { IncomingRequest } from './http.ts'
import { seedEngines } from './seed.ts'

export interface SandboxOptions {
  /** The port on 127.0.0.1. Default: a free port. */
  readonly port?: number
}

/** A small engine in this process. Like an engine without authentication, it has no users and checks no permissions. */
export interface Sandbox {
  readonly origin: string
  /** The base URL of the REST API of the engine `default`. */
  readonly base: string
  /** The most recent requests, in the order of arrival. */
  readonly seen: readonly IncomingRequest[]
  /** The number of requests since the start. */
  readonly requests: number
  readonly close: () => Promise<void>
}

const SEEN_LIMIT = 500
const BODY_LIMIT_BYTES = 16 * 2 ** 20

export async function startSandbox({ port = 0 }: SandboxOptions = {}): Promise<Sandbox> {
  const engines = seedEngines()
  const seen: IncomingRequest[] = []
  let requests = 0
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1
    const body = await readBytes(request, BODY_LIMIT_BYTES)
    const { method = '', url = '', headers } = request
    seen.push({ method, url, headers, body: body ?? Buffer.alloc(0) })
    if (seen.length > SEEN_LIMIT) seen.shift()
    send(request, response, body === null ? html(413) : answer(engines, { method, url, headers, body }))
  }
  // A client that disconnects while it sends its body gets no response.
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  // The same time as in the engine's servlet container. It is longer than the time for which the pool of any client keeps a connection.
  server.keepAliveTimeout = 60_000
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${portOf(server)}`
  return {
    origin,
    base: `${origin}/engine-rest`,
    seen,
    get requests() {
      return requests
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the sandbox does not listen')
  return address.port
}
