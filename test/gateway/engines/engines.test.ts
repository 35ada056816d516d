import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

t.test('the list of engines is available even if no engine is the default', async (t) => {
  const named = await openGateway(t, {
    wrap: ({ engines, ...dependencies }) => ({
      ...dependencies,
      engines: new Map([...engines].filter(([name]) => name !== 'default')),
    }),
  })
  const { status, body, forwarded } = await named.ask('demo', 'GET /engine')
  t.same([status, body, forwarded], [200, [{ name: 'second' }], []])
  t.equal((await named.ask(null, 'GET /engine')).status, 401)
  t.match(await named.ask('demo', 'GET /engine/default/engine'), { status: 404 })
  t.match(await named.ask('demo', 'GET /task'), {
    status: 404,
    body: { message: 'Process engine default not available' },
  })
})

t.test('an engine does not list the other engines', async (t) => {
  const gateway = await openGateway(t, {})
  for (const route of [
    'GET /engine/second/engine',
    'POST /engine/second/engine',
    'GET /engine/second/engine/',
  ]) {
    const { status, body, forwarded } = await gateway.ask('demo', route)
    t.same(
      [status, body],
      [404, { type: 'NotFoundException', message: 'HTTP 404 Not Found', code: null }],
      route,
    )
    t.same(forwarded, [])
  }
})
