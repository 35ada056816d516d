import t from 'tap'
import { createLookUp } from '../../src/policy/lookup.ts'
import { createFindEach } from '../../src/policy/members.ts'

type Row = Readonly<Record<string, unknown>>

const instance = (id: string): Row => ({ id, definitionId: 'review:1', tenantId: null })
const many = (count: number, name: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`)

/** An engine that finds an instance whatever the case of its id, as some databases do, and answers long requests with a 400. */
function findIn(answers: Readonly<Record<string, unknown>>, ids: readonly string[] = []) {
  const seen: string[] = []
  let [now, most] = [0, 0]
  const stored = new Set(ids)
  const answerTo = (path: string): unknown => {
    const { pathname, searchParams } = new URL(path, 'http://engine')
    if (path.length > 8000) return null
    const one = decodeURIComponent(pathname.split('/')[2] ?? '').toLowerCase()
    if (pathname.startsWith('/process-instance/')) return stored.has(one) ? instance(one) : null
    if (pathname === '/process-definition/review%3A1')
      return { id: 'review:1', key: 'review', tenantId: null }
    const listed = searchParams.get('processInstanceIds')?.toLowerCase().split(',')
    if (listed !== undefined) return [...stored].filter((id) => listed.includes(id)).map(instance)
    const answer = answers[pathname] ?? null
    return typeof answer === 'function' ? answer(searchParams) : answer
  }
  const read = async (path: string): Promise<unknown> => {
    seen.push(path)
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    return answerTo(path)
  }
  const find = createFindEach({ read, lookUp: createLookUp({ read }) })
  const ask = (each: string, body: unknown) =>
    find(each, { principal: { userId: 'anna', groups: [], tenants: [] }, params: {}, query: new Map(), body })
  return { ask, seen, most: () => most }
}

const WAITING = many(1000, 'e').map((id, at) => ({
  id,
  executionId: id,
  processInstanceId: `p${at}`,
  tenantId: at === 0 ? 'acme' : null,
}))
const REACHED = [
  ['signalSubscriptions', '/event-subscription', { name: 'go' }],
  ['correlatedExecutions', '/execution', { messageName: 'go' }],
] as const

for (const [each, list, body] of REACHED)
  t.test(
    `${each}: a thousand that wait are asked about a hundred in one hop, one hop after another`,
    async (t) => {
      const { ask, seen, most } = findIn({ [list]: WAITING }, many(1000, 'p'))
      const found = await ask(each, body)
      t.equal(found?.length, 1000)
      t.match(found?.[0], { processInstanceId: 'p0', processDefinitionKey: 'review', tenantId: 'acme' })
      t.match(found?.[999], { processInstanceId: 'p999', processDefinitionKey: 'review', tenantId: null })
      // The list itself, its instances in ten hops, and their definition.
      t.same([seen.length, most()], [12, 1])
    },
  )

t.test(
  'an execution whose instance is not listed is looked up by itself, and left out where it is gone',
  async (t) => {
    const rows = [
      { executionId: 'e0', processInstanceId: 'P0', tenantId: null },
      { executionId: 'e1', processInstanceId: 'p1', tenantId: null },
    ]
    const { ask } = findIn(
      { '/event-subscription': rows, '/execution/e0': { id: 'e0', processInstanceId: 'P0' } },
      ['p0'],
    )
    t.same(await ask('signalSubscriptions', { name: 'go' }), [
      { processInstanceId: 'P0', processDefinitionKey: 'review', tenantId: null },
    ])
  },
)

for (const each of ['processInstances', 'modifiedInstances'])
  t.test(`${each}: named instances are looked up a hundred in one hop`, async (t) => {
    const processInstanceIds = many(250, 'p')
    const { ask, seen, most } = findIn({}, processInstanceIds)
    const found = await ask(each, { processInstanceIds, processDefinitionId: 'review:1' })
    t.same(
      found?.map(({ id, processDefinitionKey }) => [id, processDefinitionKey]),
      processInstanceIds.map((id) => [id, 'review']),
    )
    t.same([seen.length, most()], [4, 1])
  })

t.test('an id that the engine finds in its own way is looked up as it is named', async (t) => {
  const long = 'x'.repeat(9000)
  const { ask, seen } = findIn({}, ['p0', 'p1'])
  const found = await ask('processInstances', { processInstanceIds: ['P0', 'p1', 'p0,p1', long, 'nosuch'] })
  t.same(
    found?.map(({ id }) => id),
    ['P0', 'p1'],
  )
  t.ok(seen.includes('/process-instance/p0%2Cp1'))
})

t.test('past an instance that stops the engine none is looked up', async (t) => {
  const processInstanceIds = ['p0', 'nosuch', 'p1', ...many(500, 'q')]
  const { ask, seen } = findIn({}, ['p0', 'p1'])
  const found = await ask('modifiedInstances', { processInstanceIds, processDefinitionId: 'review:1' })
  t.same(
    found?.map(({ id }) => id),
    ['p0'],
  )
  t.equal(seen.length, 3)
})

t.test('a definition named in another case is the same to many a database', async (t) => {
  const { ask } = findIn({}, ['p0', 'p1'])
  for (const processDefinitionId of ['REVIEW:1', 'Review:1 ', 'r\u00e9view:1'])
    t.match(
      await ask('modifiedInstances', { processInstanceIds: ['p0', 'p1'], processDefinitionId }),
      [{ id: 'p0' }, { id: 'p1' }],
      processDefinitionId,
    )
  t.same(await ask('modifiedInstances', { processInstanceIds: ['p0'], processDefinitionId: 'review:2' }), [])
})

t.test('the tasks of many instances are found: no request is longer than the engine takes', async (t) => {
  const task = { id: 't1', processInstanceId: 'p299', processDefinitionKey: 'review', tenantId: null }
  const processInstanceIds = many(300, 'instance-with-a-name-as-long-as-an-id')
  const { ask } = findIn({
    '/external-task': (query: URLSearchParams) =>
      query
        .get('processInstanceIdIn')
        ?.split(',')
        .includes(processInstanceIds[299] ?? '')
        ? [task]
        : [],
    '/external-task/t1': task,
  })
  t.match(await ask('externalTasks', { processInstanceIds }), [{ id: 't1', processDefinitionKey: 'review' }])
})

t.test('more than ten thousand named ids are not looked through', async (t) => {
  const ids = many(10_001, 'p')
  const cases = [
    ['processInstances', { processInstanceIds: ids }],
    ['modifiedInstances', { processInstanceIds: ids, processDefinitionId: 'review:1' }],
    ['restartedInstances', { processInstanceIds: ids }],
    ['externalTasks', { externalTaskIds: ids }],
    ['externalTasks', { externalTaskIds: ids.slice(1), processInstanceIds: ['p'] }],
  ] as const
  for (const [each, body] of cases) {
    const { ask, seen } = findIn({}, ids)
    t.same([await ask(each, body), seen], [null, []], each)
  }
  const { ask } = findIn({}, ids)
  t.equal((await ask('processInstances', { processInstanceIds: ids.slice(1) }))?.length, 10_000)
})
