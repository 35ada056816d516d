import { parseArgs } from 'node:util'
import httpProxy from '@fastify/http-proxy'
import { fastify } from 'fastify'

// The gateway's requests that are only passed through are compared with this server. It is the plugin with its defaults and no other code.

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, upstream: { type: 'string', default: '' } },
})

const app = fastify({ logger: false })
app.register(httpProxy, { upstream: values.upstream })
await app.listen({ host: '127.0.0.1', port: Number(values.port) })
