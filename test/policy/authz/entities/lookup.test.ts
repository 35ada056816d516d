import t from 'tap'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'

t.test('as many definitions are remembered as may be, those that were asked for last', async (t) => {
  const seen: string[] = []
  const { lookUp } = createLookUps({
    read: async (path) => {
      seen.push(path.slice('/process-definition/'.length))
      return { id: 'a', key: 'a', tenantId: null }
    },
    maxRemembered: 2,
  })
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await lookUp('processDefinition', id)
  t.same(seen, ['a', 'b', 'c', 'b'])
})
