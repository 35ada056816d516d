import t from 'tap'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

t.test('a change of the shares while a new configuration starts is not lost', async (t) => {
  const asked = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let isHeld = false
  const node = await startNode(t, (_request, response) => {
    if (isHeld) asked.resolve()
    void (isHeld ? released.promise : Promise.resolve()).then(() => response.end('{}'))
  })
  const settings = {
    engines: {
      default: {
        nodes: ['old', 'new'].map((group) => ({ url: `${node.url}/${group}`, group })),
        shift: { to: 'new', reads: '10%' },
      },
    },
    health: { probe: false },
  }
  const { running, reload, metric } = await startReloadable(t, settings)
  isHeld = true
  const reloaded = reload({ ...settings, limits: { connections: 7 } })
  // The new configuration waits for the first check of the group.
  await asked.promise
  const { status } = await fetch(`${running.adminAddress}/shift`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
    body: JSON.stringify({ reads: '0%' }),
  })
  t.equal(status, 200)
  released.resolve()
  t.match(await reloaded, { status: 200 })
  t.equal(await metric('gateway_shift_share{engine="default",group="new",kind="reads"}'), 0)
})
