// Tests load it into the gateway's process: amid its routes it gets no processor time any more, until it is told to go on.
import { subscribe } from 'node:diagnostics_channel'

let isFirst = true
subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('onRoute', ({ url }) => {
    if (!url.startsWith('/engine-rest/') || !isFirst) return
    isFirst = false
    process.kill(process.pid, 'SIGSTOP')
  })
})
