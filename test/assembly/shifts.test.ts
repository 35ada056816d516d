import t from 'tap'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

const node = await startNode(t, (_request, response) => response.end('{}'))

/** Returns the settings of an engine with two groups. */
const engineOf = (reads: string) => ({
  nodes: ['old', 'new'].map((group) => ({ url: `${node.url}/${group}`, group })),
  shift: { to: 'new', reads },
})

t.test('a reload keeps changed shares of the same groups, also if the file has others', async (t) => {
  const { running, reload } = await startReloadable(t, {
    engines: { default: engineOf('10%') },
    health: { probe: false },
    admin: { port: 0 },
  })
  const sharesOf = async (change: unknown = {}) => {
    const response = await fetch(`${running.adminAddress}/shift`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
      body: JSON.stringify(change),
    })
    return response.json()
  }
  const others = { health: { probe: false }, admin: { port: 0 } }
  await reload({ ...others, engines: { default: engineOf('20%') } })
  t.match(await sharesOf(), { reads: 0.2, revision: 0, shared: null }, 'nothing has changed them')
  t.match(await sharesOf({ reads: '70%' }), { reads: 0.7, revision: 1 })
  await reload({ ...others, engines: { default: engineOf('20%') }, limits: { connections: 7 } })
  t.match(await sharesOf(), { reads: 0.7 })
  await reload({ ...others, engines: { default: engineOf('30%') }, limits: { connections: 7 } })
  t.match(await sharesOf(), { reads: 0.7, revision: 1 })
})

t.test('the status has the groups of an engine, their shares and the comparison', async (t) => {
  const { running } = await startReloadable(t, {
    engines: { default: { ...engineOf('12.5%'), compare: {} } },
    health: { probe: false },
    admin: { port: 0 },
  })
  t.match(await (await fetch(`${running.adminAddress}/status.json`)).json(), {
    engines: [
      {
        nodes: [{ group: 'old' }, { group: 'new' }],
        groups: {
          to: 'new',
          from: 'old',
          reads: 0.125,
          writes: 0,
          returned: null,
          refused: null,
          compared: { results: {}, waiting: 0, differences: [] },
        },
      },
    ],
  })
})
