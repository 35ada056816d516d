import t from 'tap'
import { build } from '../../src/assembly/build.ts'
import { createLogger } from '../../src/log.ts'
import { configOf } from '../support/open-gateway.ts'

t.test(
  'the runtime counts open WebSockets, closes them in a drain, and cuts them when it stops',
  async (t) => {
    const config = configOf(t, 'http://engine.invalid', {
      settings: {
        passthrough: [
          { prefix: '/with', upstream: 'http://web.invalid', websocket: true },
          { prefix: '/without', upstream: 'http://web.invalid' },
        ],
        limits: { webSockets: { open: 2, perUser: 1, maxAge: '30m', idle: '1m' } },
        timeouts: { drain: '0s' },
      },
    })
    const runtime = await build({
      config,
      log: createLogger({ level: 'error', destination: { write: () => undefined } }),
      version: 'test',
    })
    t.teardown(() => runtime.close())
    runtime.activate()
    const [sockets, none] = runtime.gateway.applications.map(({ webSockets }) => webSockets)
    t.equal(none, null)
    t.same(sockets?.limits, { open: 2, perUser: 1, maxAgeMs: 1_800_000, idleMs: 60_000 })
    const ends: string[] = []
    const place = sockets?.take('demo')
    if (typeof place === 'object')
      place.watch({ close: (end) => ends.push(end), isPermitted: () => Promise.resolve(true) })
    t.match(await runtime.gateway.metrics.text(), 'gateway_websockets{engine="/with"} 1')
    runtime.endPolls()
    await new Promise((resolve) => setTimeout(resolve, 5))
    t.same(ends, ['drain'])
    t.equal(sockets?.take('demo'), 'draining')
    runtime.stop()
    t.same(ends, ['drain', 'drain'])
  },
)
