import t from 'tap'
import { enginesNear } from '../../src/config/engine-hosts.ts'

const nodeAt = (url: string) => ({ url, weight: 1, drain: false, group: null })
const near = (application: string, engine: string) =>
  enginesNear([nodeAt(application)], [['orders', { nodes: [nodeAt(engine)] }]])

t.test('an engine is near an application on the same host, whatever the port', (t) => {
  for (const [application, engine] of [
    ['http://engine:8080/camunda', 'http://engine:8080/engine-rest'],
    ['https://ENGINE:8443', 'http://engine/engine-rest'],
    ['http://engine.', 'http://engine:8080/engine-rest'],
    ['http://[2001:db8::1]:8080', 'http://[2001:db8:0::1]/engine-rest'],
  ] as const)
    t.match(near(application, engine), [{ engine: 'orders', path: '/engine-rest' }], application)
  t.same(near('http://web:8080', 'http://engine:8080/engine-rest'), [])
  t.end()
})

t.test('on this machine, only the same port is the same program', (t) => {
  t.same(near('http://127.0.0.1:8080/x', 'http://localhost:8080'), [
    { engine: 'orders', host: 'localhost:8080', path: '' },
  ])
  t.same(near('http://[::1]/x', 'http://127.0.0.2:80/engine-rest'), [
    { engine: 'orders', host: 'localhost:80', path: '/engine-rest' },
  ])
  for (const url of ['http://0.0.0.0:8080', 'http://[::]:8080', 'http://[::ffff:127.0.0.1]:8080'])
    t.match(near(url, 'http://localhost:8080'), [{ host: 'localhost:8080' }], url)
  t.same(near('http://127.0.0.1:8081', 'http://127.0.0.1:8080/engine-rest'), [])
  t.same(near('https://localhost', 'http://localhost/engine-rest'), [])
  t.end()
})
