import t from 'tap'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { authorizationOf } from '../../support/open-gateway.ts'
import { setupsOf, startReloadable } from '../../support/reloadable.ts'
import { connectTools } from '../../support/tool-client.ts'

t.test('a reload changes the tools, and a drain waits for no stream', async (t) => {
  const engine = await startSandbox()
  t.teardown(() => engine.close())
  const { ONE } = setupsOf(engine.base)
  const gateway = await startReloadable(t, { ...ONE, mcp: { tools: ['getTasks', 'getTask'] } })
  const { address } = gateway.running
  const openStream = () =>
    fetch(`${address}/mcp`, {
      headers: { authorization: authorizationOf('demo'), accept: 'text/event-stream' },
    })
  const { names } = await connectTools(t, address, 'demo')
  t.same([...(await names())].sort(), ['getTask', 'getTasks'])
  const old = await openStream()
  await gateway.reload({ ...ONE, mcp: { tools: ['getTasks'] } })
  t.match(
    await old.text(),
    /list_changed/,
    'the stream of the replaced configuration ends with a notification',
  )
  t.same(await names(), ['getTasks'])
  const current = await openStream()
  t.equal(current.status, 200)
  await gateway.reload(ONE)
  t.match(await current.text(), /list_changed/)
  t.equal((await openStream()).status, 404)
  await gateway.reload({ ...ONE, mcp: {} })
  const last = await openStream()
  t.equal(last.status, 200)
  await gateway.running.drain()
  t.match(await last.text(), /list_changed/)
})
