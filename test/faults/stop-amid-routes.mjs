// Tests load this module into the gateway's process. It stops the process while routes are registered, until a signal continues it.
import { subscribe } from 'node:diagnostics_channel'

let isFirst = true
subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('onRoute', ({ url }) => {
    if (!url.startsWith('/engine-rest/') || !isFirst) return
    isFirst = false
    process.kill(process.pid, 'SIGSTOP')
  })
})
