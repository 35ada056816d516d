import t from 'tap'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { maxConnectionsFor } from '../../src/server/file-descriptors.ts'

const CONFIG = loadConfig(new URL('../../config/gateway.yaml', import.meta.url).pathname)
/** Descriptors that the gateway needs with the demo configuration: 64 connections and 150 long polls for each node, and 100 others. */
const OWN = Object.values(CONFIG.engines).reduce((sum, { nodes }) => sum + nodes.length, 0) * (64 + 150) + 100

t.test('clients get the file descriptors that the gateway does not need', (t) => {
  t.equal(maxConnectionsFor(CONFIG, 65_536), 65_536 - OWN)
  t.end()
})

t.test('an application with WebSockets needs a file descriptor for each of them', (t) => {
  const passthrough = [passthroughOf(true), passthroughOf(false)]
  t.equal(maxConnectionsFor({ ...CONFIG, passthrough }, 65_536), 65_536 - OWN - CONFIG.limits.webSockets.open)
  t.end()
})

function passthroughOf(websocket: boolean): Config['passthrough'][number] {
  return {
    prefix: '/app',
    upstream: 'http://web:8080/app',
    auth: 'gateway',
    forwarded: 'x-forwarded',
    requestHeaders: [],
    cookies: 'prefix',
    deny: [],
    allow: [],
    websocket,
  }
}

t.test('with few file descriptors, half of them are for clients', (t) => {
  t.equal(maxConnectionsFor(CONFIG, 100), 50)
  t.end()
})

t.test('without a limit of file descriptors, the number of clients is not limited', (t) => {
  t.equal(maxConnectionsFor(CONFIG, Infinity), Infinity)
  t.end()
})
