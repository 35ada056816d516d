import t from 'tap'
import type { LookUpAll } from '../../../../src/policy/authz/entities/lookup.ts'
import { createRowFacts } from '../../../../src/policy/authz/entities/row-attributes.ts'

const DEFINITIONS: Readonly<Record<string, { key: string; tenantId: string | null }>> = {
  'office:1': { key: 'office', tenantId: 'acme' },
  'mail:1': { key: 'mail', tenantId: null },
}
const lookUpAll: LookUpAll = async (_name, ids) =>
  new Map(Object.entries(DEFINITIONS).filter(([id]) => ids.includes(id)))
const readRowFacts = createRowFacts({ lookUp: () => null, lookUpAll })

async function factsOf(template: string, row: Readonly<Record<string, unknown>>) {
  const [fact] = await readRowFacts(template, [row])
  return { key: fact?.('processDefinitionKey'), tenantId: fact?.('tenantId') }
}

t.test('a row that names a definition by its id alone has the key of that', async (t) => {
  t.match(await factsOf('/job', { processDefinitionId: 'mail:1' }), { key: 'mail' })
})

t.test('a row without a word of tenants has its definition’s: the operation log has none', async (t) => {
  const row = { processDefinitionId: 'office:1', processDefinitionKey: 'office' }
  t.same(await factsOf('/history/user-operation', row), { key: 'office', tenantId: 'acme' })
})

t.test('a row that says it has no tenant has none, whatever its definition has', async (t) => {
  const row = { processDefinitionId: 'office:1', tenantId: null }
  t.same(await factsOf('/job', row), { key: 'office', tenantId: null })
})

t.test('a row has no fact that only every object has', async (t) => {
  const [fact] = await readRowFacts('/task', [{}])
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    t.equal(fact?.(name), null, name)
})
