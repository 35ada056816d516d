import { parseArgs } from 'node:util'
import { fastify } from 'fastify'
import { Pool } from 'undici'

// The minimum that a Fastify application can do between a client and an engine. It reads a body as bytes, forwards it with
// one dispatch and writes each chunk of the response when it arrives. It has no credentials, no checks and no log.

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, upstream: { type: 'string', default: '' } },
})

const pool = new Pool(values.upstream)
const app = fastify({ logger: false })
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.all('*', (request, reply) => {
  reply.hijack()
  const { raw } = reply
  const body = request.body instanceof Buffer ? request.body : null
  pool.dispatch(
    {
      path: request.url,
      method: request.method === 'POST' ? 'POST' : 'GET',
      headers: { 'content-type': request.headers['content-type'], accept: request.headers.accept },
      body,
    },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) => void raw.writeHead(status, headers),
      onResponseData: (_controller, chunk) => void raw.write(chunk),
      onResponseEnd: () => void raw.end(),
      onResponseError: () => void raw.destroy(),
    },
  )
})
await app.listen({ host: '127.0.0.1', port: Number(values.port) })
