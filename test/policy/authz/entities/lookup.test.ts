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

/** Lets all asynchronous work that can continue do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Opens lookups of a definition, whose reads the test ends. */
function openPending() {
  const clock = { ms: 1 }
  const pending: PromiseWithResolvers<object | null>[] = []
  const { lookUp } = createLookUps({
    read: () => {
      const one = Promise.withResolvers<object | null>()
      pending.push(one)
      return one.promise
    },
    nowMs: () => clock.ms,
  })
  const find = () => lookUp('processDefinitionOfKey', 'a')
  const loadFirst = async () => {
    const first = find()
    pending.shift()?.resolve({ id: 'a:1', key: 'a', tenantId: null })
    await first
  }
  return { clock, pending, find, loadFirst }
}

t.test('an entity in use is read again in the background, and no request waits', async (t) => {
  const { clock, pending, find, loadFirst } = openPending()
  await loadFirst()
  clock.ms += 3_499
  void find()
  t.equal(pending.length, 0)
  clock.ms += 1
  for (let count = 0; count < 3; count += 1) t.match(find(), { tenantId: null }, 'without a promise')
  t.equal(pending.length, 1)
  pending.shift()?.resolve({ id: 'a:2', key: 'a', tenantId: 'acme' })
  await settle()
  clock.ms += 3_400
  t.match(find(), { tenantId: 'acme' }, 'also after the time of the first read')
})

t.test('an entity that no longer exists is forgotten by its renewal', async (t) => {
  const { clock, pending, find, loadFirst } = openPending()
  await loadFirst()
  clock.ms += 4_000
  void find()
  pending.shift()?.resolve(null)
  await settle()
  const missing = find()
  pending.shift()?.resolve(null)
  t.equal(await missing, null)
})

t.test('a renewal that fails is not repeated, and the entity keeps its time', async (t) => {
  const { clock, pending, find, loadFirst } = openPending()
  await loadFirst()
  clock.ms += 4_000
  void find()
  pending.shift()?.reject(new Error('away'))
  await settle()
  t.match(find(), { tenantId: null })
  t.equal(pending.length, 0)
  clock.ms += 1_001
  const failed = Promise.resolve(find())
  pending.shift()?.reject(new Error('still away'))
  await t.rejects(failed, { message: 'still away' })
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
    [419_000, 1],
    [181_000, 2],
  ] as const) {
    nowMs += ms
    await lookUp('processDefinition', 'a')
    t.equal(reads, expected)
  }
})

const UNNAMED = { processDefinitionId: null, processDefinitionKey: null, category: 'Operator', taskId: null }

/** Creates lookups of operations, each with one entry. */
function lookUpsOfLog(entries: Readonly<Record<string, object>>) {
  const reads: string[] = []
  const { lookUp } = createLookUps({
    read: async (path) => {
      reads.push(path)
      const operationId = path.split('operationId=')[1] ?? ''
      if (path.startsWith('/deployment/')) return { id: 'd1', tenantId: 'acme' }
      const entry = entries[operationId]
      return entry === undefined ? [] : [{ id: 'e', operationId, ...UNNAMED, ...entry }]
    },
  })
  return { reads, tenantOf: async (id: string) => (await lookUp('operationLogEntry', id))?.['tenantId'] }
}

t.test('an operation belongs to the tenant of the entity that its entry names', async (t) => {
  const { tenantOf } = lookUpsOfLog({
    deployed: { entityType: 'Deployment', deploymentId: 'd1' },
    user: { entityType: 'User' },
  })
  t.equal(await tenantOf('deployed'), 'acme')
  t.equal(await tenantOf('user'), null)
})

t.test('annotations of annotations are followed up to a limit', async (t) => {
  const annotation = { entityType: 'OperationLog', property: 'operationId' }
  const entries = Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`a${at + 1}`, { ...annotation, newValue: `a${at}` }] as const),
  )
  const { reads, tenantOf } = lookUpsOfLog({ ...entries, a0: { entityType: 'User' } })
  t.equal(await tenantOf('a3'), null)
  reads.length = 0
  t.equal(await tenantOf('a9'), '\0', 'no tenant has this id')
  t.ok(reads.length < 6, `${reads.length} requests`)
})
