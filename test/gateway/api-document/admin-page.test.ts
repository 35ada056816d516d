import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { startGateway } from '../../support/running-gateway.ts'

const DEMO = new URL('../../../config/', import.meta.url).pathname
const SETTINGS = {
  engines: { default: { nodes: ['http://127.0.0.1:9'] } },
  identity: { source: 'file', file: `${DEMO}users.yaml` },
  authorization: { records: { source: 'file', file: `${DEMO}authorizations.yaml` } },
}

t.test('the admin listener shows every operation of an engine with its permissions', async (t) => {
  const gateway = await startGateway(t, { ...SETTINGS, apiDocument: {} })
  const { status, text } = await gateway.admin('/docs')
  t.equal(status, 200)
  for (const { id } of OPERATIONS) if (!text.includes(`<div id="${id}">`)) t.fail(id)
  t.match(text, /Needs: <code>CREATE<\/code> on deployment/)
  t.equal((await gateway.admin('/docs?engine=default')).text, text)
  t.equal((await gateway.admin('/docs?engine=other')).status, 404)
})

t.test('without `apiDocument`, the admin listener has no page of the API', async (t) => {
  const gateway = await startGateway(t, SETTINGS)
  t.equal((await gateway.admin('/docs')).status, 404)
})
