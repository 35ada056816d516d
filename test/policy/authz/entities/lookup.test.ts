import t from 'tap'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'
import { isLookup, LOOKUPS } from '../../../../src/policy/authz/entities/lookup-rules.ts'

t.test('the most recently used definitions are remembered, up to the limit', async (t) => {
  const seen: string[] = []
  const { lookUp } = createLookUps({
    read: async (path) => {
      seen.push(path.slice('/process-definition/'.length))
      return { id: path.slice('/process-definition/'.length), key: 'a', tenantId: null }
    },
    maxRemembered: 2,
  })
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await lookUp('processDefinition', id)
  t.same(seen, ['a', 'b', 'c', 'b'])
})

t.test('an entity that names a definition by id is decided by the key of that definition', async (t) => {
  const { lookUp } = createLookUps({
    read: async (path) =>
      path.startsWith('/process-definition/')
        ? { id: 'review:1', key: 'review', tenantId: null }
        : { id: 'one', definitionId: 'review:1', processDefinitionId: 'review:1', tenantId: null },
  })
  const names = Object.keys(LOOKUPS)
    .filter(isLookup)
    .filter((name) => LOOKUPS[name].definition !== undefined)
  t.ok(names.includes('incident'))
  for (const name of names) t.match(await lookUp(name, 'one'), { processDefinitionKey: 'review' }, name)
})

t.test('a definition is read again after ten minutes', async (t) => {
  let [nowMs, reads] = [1, 0]
  const { lookUp } = createLookUps({
    read: async () => {
      reads += 1
      return { id: 'a', key: 'a', tenantId: null }
    },
    nowMs: () => nowMs,
  })
  for (const [ms, expected] of [
    [0, 1],
    [599_000, 1],
    [2_000, 2],
  ] as const) {
    nowMs += ms
    await lookUp('processDefinition', 'a')
    t.equal(reads, expected)
  }
})
