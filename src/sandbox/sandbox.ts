import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { answer } from './answer.ts'
import { html, readBytes, send } from './http.ts'
import type { Seen } from './http.ts'
import { seedEngines } from './seed.ts'

export interface SandboxOptions {
  /** On 127.0.0.1; a free one when not given. */
  readonly port?: number
}

/** A small engine in this process. It has no users and no authorization, like a bare engine. */
export interface Sandbox {
  readonly origin: string
  /** Where the REST API of engine 'default' begins. */
  readonly base: string
  /** The last requests, the newest last. */
  readonly seen: readonly Seen[]
  /** All requests since the start. */
  readonly requests: number
  readonly close: () => Promise<void>
}

const SEEN_LIMIT = 500
const BODY_LIMIT_BYTES = 16 * 2 ** 20

export async function startSandbox({ port = 0 }: SandboxOptions = {}): Promise<Sandbox> {
  const engines = seedEngines()
  const seen: Seen[] = []
  let requests = 0
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    requests += 1
    const body = await readBytes(request, BODY_LIMIT_BYTES)
    const { method = '', url = '', headers } = request
    seen.push({ method, url, headers, body: body ?? Buffer.alloc(0) })
    if (seen.length > SEEN_LIMIT) seen.shift()
    send(request, response, body === null ? html(413) : answer(engines, { method, url, headers, body }))
  }
  // A client that leaves in the middle of its body gets no answer.
  const server = createServer(
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  )
  // As long as the engine's container, which is longer than any client's pool keeps a connection.
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
