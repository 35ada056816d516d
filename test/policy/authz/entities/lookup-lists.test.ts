import t from 'tap'
import { listByIds } from '../../../../src/policy/authz/entities/lookup-lists.ts'

const itemOf = (id: string) => ({ id, definitionId: 'mail:1', tenantId: null })

t.test('a list with an entity that was not requested is invalid', async (t) => {
  const list = listByIds('processInstance', ['i1', 'i2'], async () => [itemOf('i1'), itemOf('i3')])
  await t.rejects(list, { code: 'GW_UPSTREAM_INVALID' })
})

t.test('an entity may have one of the requested ids in another spelling', async (t) => {
  const { items: rows, respelt } = await listByIds('processInstance', ['i1', 'i2'], async () => [
    itemOf('I1'),
    itemOf('i2'),
  ])
  t.same([...rows.keys()], ['I1', 'i2'])
  t.same(respelt, ['i1'], 'the spelling of the request is looked up by itself')
})

t.test('ids that no item has are unknown if a second list has no item for them', async (t) => {
  const lists = [[itemOf('i1')], []]
  const { items: rows, respelt } = await listByIds('processInstance', ['i1', 'i2'], async () => lists.shift())
  t.same([...rows.keys()], ['i1'])
  t.same(respelt, [])
})
