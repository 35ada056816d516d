import { once } from 'node:events'
import http from 'node:http'

export interface ChangingProxy {
  /** The base URL of the node behind the proxy, through the proxy. */
  readonly base: string
  readonly stop: () => void
}

/** Returns another body for a response, or null to leave it as it is. The path is relative to the base URL. */
type ChangeBody = (path: string, body: string) => string | null

/** Starts a proxy in front of a node that changes response bodies. Connections of both sides are reused. */
export async function startChangingProxy(nodeBase: string, change: ChangeBody): Promise<ChangingProxy> {
  const { origin, pathname } = new URL(nodeBase)
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer((request, response) => {
    const { method, url: path = '', headers } = request
    const forwarded = http.request(new URL(path, origin), { method, headers, agent }, (upstream) => {
      const chunks: Buffer[] = []
      upstream.on('data', (chunk: Buffer) => chunks.push(chunk))
      upstream.on('end', () => {
        const body = Buffer.concat(chunks)
        const sent = Buffer.from(change(path.slice(pathname.length), body.toString()) ?? body)
        const { 'transfer-encoding': _, ...kept } = upstream.headers
        const length = upstream.statusCode === 204 ? {} : { 'content-length': sent.length }
        response.writeHead(upstream.statusCode ?? 502, { ...kept, ...length }).end(sent)
      })
    })
    forwarded.on('error', () => response.destroy())
    // The node must not lock tasks for a long poll that has ended.
    response.on('close', () => {
      if (!response.writableFinished) forwarded.destroy()
    })
    request.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    base: `http://127.0.0.1:${address.port}${pathname}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}
