import t from 'tap'
import type { LookUpAll } from '../../../src/policy/authz/entities/look-ups.ts'
import { createItemAttributes } from '../../../src/lists/facts/item-attributes.ts'

const DEFINITIONS: Readonly<Record<string, { key: string; tenantId: string | null }>> = {
  'office:1': { key: 'office', tenantId: 'acme' },
  'mail:1': { key: 'mail', tenantId: null },
}
const lookUpAll: LookUpAll = async (_name, ids) =>
  new Map(Object.entries(DEFINITIONS).filter(([id]) => ids.includes(id)))
const readRowAttributes = createItemAttributes({ lookUp: () => null, lookUpAll })

async function attributesOf(template: string, item: Readonly<Record<string, unknown>>) {
  const [attribute] = await readRowAttributes(template, [item])
  return { key: attribute?.('processDefinitionKey'), tenantId: attribute?.('tenantId') }
}

t.test('an item that names only the id of a definition has the key of that definition', async (t) => {
  t.match(await attributesOf('/job', { processDefinitionId: 'mail:1' }), { key: 'mail' })
})

t.test("an item without a tenant member, as in the operation log, has its definition's tenant", async (t) => {
  const item = { processDefinitionId: 'office:1', processDefinitionKey: 'office' }
  t.same(await attributesOf('/history/user-operation', item), { key: 'office', tenantId: 'acme' })
})

t.test('an item whose tenant is null has none, whatever its definition has', async (t) => {
  const item = { processDefinitionId: 'office:1', tenantId: null }
  t.same(await attributesOf('/job', item), { key: 'office', tenantId: null })
})

t.test('members that every object inherits are no attributes of an item', async (t) => {
  const [attribute] = await readRowAttributes('/task', [{}])
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    t.throws(() => attribute?.(name), { code: 'GW_UPSTREAM_INVALID' }, name)
})

t.test('an item without the member that an attribute is read from is invalid', async (t) => {
  for (const [name, member] of [
    ['tenantId', 'tenantId'],
    ['processDefinitionKey', 'processDefinitionId'],
    ['taskId', 'taskId'],
    ['key', 'decisionDefinitionKey'],
    ['executionId', 'executionId'],
    ['group.id', 'id'],
  ] as const) {
    const [without, withInstance, withNull, inDefinition] = await readRowAttributes('/list', [
      { status: 'maintenance' },
      { processInstanceId: 'i1' },
      { [member]: null },
      { definition: { [member]: null } },
    ])
    const error = {
      code: 'GW_UPSTREAM_INVALID',
      body: { message: `An item of the engine's response has no ${name}` },
    }
    t.throws(() => without?.(name), error)
    t.throws(() => withInstance?.(name), error)
    t.equal(withNull?.(name), null, name)
    t.equal(inDefinition?.(name), null, name)
  }
})

t.test('a definition does not replace members that it does not have', async (t) => {
  const [attribute] = await readRowAttributes('/history/detail', [{ processDefinitionId: 'mail:1' }])
  t.equal(attribute?.('processDefinitionKey'), 'mail')
  t.equal(attribute?.('tenantId'), null)
  for (const name of ['executionId', 'taskId', 'category'])
    t.throws(() => attribute?.(name), { code: 'GW_UPSTREAM_INVALID' }, name)
})

const idIn = async (template: string, name: string, item: Readonly<Record<string, unknown>>) => {
  const [attribute] = await readRowAttributes(template, [item])
  return attribute?.(name)
}

t.test('a list of an entity calls its id `id`, and other lists use its full name', async (t) => {
  for (const template of ['/task', '/filter/:id/list'])
    t.equal(await idIn(template, 'taskId', { id: 't1', taskId: 'other' }), 't1', template)
  t.equal(await idIn('/process-instance', 'processInstanceId', { id: 'p1', processInstanceId: 'x' }), 'p1')
  t.equal(await idIn('/history/task', 'taskId', { id: 'h1', taskId: 't1' }), 't1')
  t.equal(await idIn('/job', 'processInstanceId', { id: 'j1', processInstanceId: 'p1' }), 'p1')
})
