import t from 'tap'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'
import type { AccessRequest } from '../../../../src/request/access-request.ts'
import { bodyTexts } from '../../../../src/request/body.ts'
import { createDateFormat } from '../../../../src/request/date-format.ts'
import { createFindTargets } from '../../../../src/policy/authz/entities/targets.ts'

const NO_BYTES = { readBytes: async () => null, onUnreadable: () => undefined }

type Row = Readonly<Record<string, unknown>>

const instance = (id: string): Row => ({ id, definitionId: 'review:1', tenantId: null })
const many = (count: number, name: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${name}${at}`)

/** Opens an engine that finds an instance in any letter case of its id, as some databases do, and responds to a long request line with 400. */
function findIn(
  answers: Readonly<Record<string, unknown>>,
  ids: readonly string[] = [],
  more: Partial<AccessRequest> = {},
) {
  const seen: string[] = []
  let [now, most] = [0, 0]
  const stored = new Set(ids)
  const answerTo = (path: string, query: unknown): unknown => {
    const { pathname } = new URL(path, 'http://engine')
    if (path.length > 8000) return null
    const one = decodeURIComponent(pathname.split('/')[2] ?? '').toLowerCase()
    if (pathname.startsWith('/process-instance/')) return stored.has(one) ? instance(one) : null
    if (pathname === '/process-definition/review%3A1') return REVIEW
    const answer = answers[pathname] ?? null
    if (typeof answer === 'function') return answer(query)
    const listed = bodyTexts(query, 'processInstanceIds').map((id) => id.toLowerCase())
    if (listed.length > 0) return [...stored].filter((id) => listed.includes(id)).map(instance)
    return answer
  }
  const read = async (path: string, query?: unknown): Promise<unknown> => {
    seen.push(path)
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    return answerTo(path, query)
  }
  const find = createFindTargets({
    read,
    ...NO_BYTES,
    dateFormat: createDateFormat(),
    ...createLookUps({ read }),
  })
  const ask = async (each: string, body: unknown) => {
    const found = await find(each, { ...ANNA, params: {}, query: new Map(), body, ...more })
    if (found !== null && 'candidates' in found) throw new Error('These are candidates')
    return found
  }
  return { ask, seen, most: () => most }
}

const REVIEW = { id: 'review:1', key: 'review', tenantId: null }
const ANNA = { principal: { userId: 'anna', groups: [], tenants: [] } }

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
    `${each}: a thousand waiting executions are looked up 500 at a time, one request after another`,
    async (t) => {
      const { ask, seen, most } = findIn({ [list]: WAITING }, many(1000, 'p'))
      const found = await ask(each, body)
      t.equal(found?.length, 1000)
      t.match(found?.[0], { processInstanceId: 'p0', processDefinitionKey: 'review', tenantId: 'acme' })
      t.match(found?.[999], { processInstanceId: 'p999', processDefinitionKey: 'review', tenantId: null })
      // The list itself, its instances in two requests, and their definition.
      t.same([seen.length, most()], [4, 1])
    },
  )

t.test(
  'an execution whose instance is not listed is looked up alone, and skipped if it does not exist',
  async (t) => {
    const rows = [
      { executionId: 'e0', processInstanceId: 'P0', tenantId: null },
      { executionId: 'e1', processInstanceId: 'p1', tenantId: null },
    ]
    const { ask } = findIn(
      { '/event-subscription': rows, '/execution/e0': { id: 'e0', processInstanceId: 'P0' } },
      ['p0'],
    )
    const found = await ask('signalSubscriptions', { name: 'go' })
    t.equal(found?.length, 1)
    t.match(found, [{ processInstanceId: 'P0', processDefinitionKey: 'review', tenantId: null }])
  },
)

for (const each of ['processInstances', 'modifiedInstances'])
  t.test(`${each}: named instances are looked up 500 at a time`, async (t) => {
    const processInstanceIds = many(1250, 'p')
    const { ask, seen, most } = findIn({}, processInstanceIds)
    const found = await ask(each, { processInstanceIds, processDefinitionId: 'review:1' })
    t.same(
      found?.map(({ id, processDefinitionKey }) => [id, processDefinitionKey]),
      processInstanceIds.map((id) => [id, 'review']),
    )
    t.same([seen.length, most()], [4, 1])
  })

t.test('an id that the engine finds in another spelling is looked up as it is named', async (t) => {
  const long = 'x'.repeat(9000)
  const { ask, seen } = findIn({}, ['p0', 'p1'])
  const found = await ask('processInstances', {
    processInstanceIds: ['P0', 'p1', 'p0,p1', long, 'nosuch', '.', ''],
  })
  t.same(
    found?.map(({ id }) => id),
    ['P0', 'p1'],
  )
  t.ok(seen.includes('/process-instance/P0'))
  t.notOk(seen.includes('/process-instance/.'))
})

t.test('more than a hundred ids in another spelling are not looked up one by one', async (t) => {
  const { ask, seen } = findIn({}, many(102, 'p'))
  const processInstanceIds = many(102, 'p').map((id, at) => (at === 0 ? id : id.toUpperCase()))
  await t.rejects(ask('processInstances', { processInstanceIds }), { code: 'GW_CHECK_NOT_EXACT' })
  t.equal(seen.length, 2)
})

t.test('ids that do not exist are looked up in lists and never one by one', async (t) => {
  const ids = many(9900, 'nosuch')
  const cases = [
    ['processInstances', { processInstanceIds: ids }],
    ['processInstances', { processInstanceIds: ids.map((id) => `${id},%${id}`) }],
    ['externalTasks', { externalTaskIds: ids }],
    ['externalTasks', { processInstanceIds: ids }],
  ] as const
  for (const [each, body] of cases) {
    const { ask, seen, most } = findIn({ '/external-task': () => [] })
    t.same(await ask(each, body), [])
    t.same([seen.length, most(), new Set(seen).size], [20, 1, 1], each)
  }
})

t.test('missing ids are looked up twice if other ids of the list exist', async (t) => {
  const { ask, seen } = findIn({}, ['p0'])
  const found = await ask('processInstances', { processInstanceIds: ['p0', ...many(499, 'nosuch')] })
  t.same(found?.length, 1)
  t.equal(seen.length, 3)
})

t.test('an id that is named often is looked up once', async (t) => {
  const definition = { processDefinitionId: 'review:1', processDefinitionKey: 'review' }
  const ended = { id: 'p0', ...definition, endTime: 'now', tenantId: null }
  for (const each of ['processInstances', 'modifiedInstances', 'restartedInstances']) {
    const { ask, seen } = findIn({ '/history/process-instance/p0': ended }, ['p0'], {
      params: { id: 'review:1' },
    })
    const found = await ask(each, {
      processInstanceIds: many(9000, '').map(() => 'p0'),
      processDefinitionId: 'review:1',
    })
    t.match(found, [{ id: 'p0', processDefinitionKey: 'review' }], each)
    t.ok(seen.length <= 2, each)
  }
})

t.test('external tasks of instances have the attributes of the list', async (t) => {
  const task = {
    id: 't1',
    processInstanceId: 'p1',
    processDefinitionKey: 'review',
    tenantId: 'acme',
    workerId: null,
  }
  const { ask, seen } = findIn({ '/external-task': () => [task] })
  t.same(await ask('externalTasks', { processInstanceIds: ['p1'] }), [{ ...task, isSelected: 'true' }])
  t.equal(seen.length, 1)
})

t.test('lookups stop if the client disconnects', async (t) => {
  const ids = many(9900, 'nosuch')
  for (const [each, body] of [
    ['processInstances', { processInstanceIds: ids }],
    ['externalTasks', { externalTaskIds: ids }],
    ['externalTasks', { processInstanceIds: ids }],
  ] as const) {
    let hops = 0
    const checkDeadline = (): void => {
      hops += 1
      if (hops === 3) throw new Error('left')
    }
    const { ask, seen } = findIn({ '/external-task': () => [] }, [], { checkDeadline })
    await t.rejects(ask(each, body), { message: 'left' })
    t.equal(seen.length, 2, each)
  }
})

t.test('no instance is looked up after one that stops the engine', async (t) => {
  const processInstanceIds = ['p0', 'nosuch', 'p1', ...many(5000, 'q')]
  const { ask, seen } = findIn({}, ['p0', 'p1'])
  const found = await ask('modifiedInstances', { processInstanceIds, processDefinitionId: 'review:1' })
  t.same(
    found?.map(({ id }) => id),
    ['p0'],
  )
  t.equal(seen.length, 3)
})

t.test('a definition in another letter case is the same definition, as in many databases', async (t) => {
  const { ask } = findIn({}, ['p0', 'p1'])
  for (const processDefinitionId of ['REVIEW:1', 'Review:1 ', 'r\u00e9view:1'])
    t.match(
      await ask('modifiedInstances', { processInstanceIds: ['p0', 'p1'], processDefinitionId }),
      [{ id: 'p0' }, { id: 'p1' }],
      processDefinitionId,
    )
  t.same(await ask('modifiedInstances', { processInstanceIds: ['p0'], processDefinitionId: 'review:2' }), [])
})

t.test('more than ten thousand named ids are not looked up', async (t) => {
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

t.test('the targets of a query in the body are unknown, whatever ids the body names', async (t) => {
  const { ask, seen } = findIn({ '/external-task': () => [] }, ['p0'], { params: { id: 'review:1' } })
  const cases = [
    ['processInstances', 'processInstanceQuery'],
    ['modifiedInstances', 'processInstanceQuery'],
    ['restartedInstances', 'historicProcessInstanceQuery'],
    ['externalTasks', 'externalTaskQuery'],
  ] as const
  for (const [each, query] of cases) {
    t.equal(await ask(each, { processInstanceIds: ['p0'], [query]: {} }), null, each)
    t.same(seen.splice(0), [], each)
    t.not(await ask(each, { processInstanceIds: ['p0'], [query]: null }), null, `${each}, null is none`)
    seen.splice(0)
  }
})

t.test('targets that only the engine knows and unknown kinds of targets are not determined', async (t) => {
  const { ask, seen } = findIn({})
  for (const each of [
    'jobDefinitions',
    'jobHistoricInstances',
    'jobJobs',
    'unknown',
    'toString',
    'novelties',
  ])
    t.equal(await ask(each, {}), null, each)
  t.same(seen, [])
})

t.test(
  'instances to restart are listed up to the first that is active, missing or of another definition',
  async (t) => {
    const ended = { processDefinitionId: 'review:1', processDefinitionKey: 'review', endTime: '2026-01-01' }
    const history: Readonly<Record<string, Row>> = {
      p0: { id: 'p0', ...ended, tenantId: null },
      p1: { id: 'p1', ...ended, tenantId: null },
      active: { id: 'active', ...ended, endTime: null, tenantId: null },
      moved: { id: 'moved', ...ended, processDefinitionId: 'other:1', tenantId: null },
      theirs: { id: 'theirs', ...ended, endTime: null, tenantId: 'globex' },
    }
    const listed = (query: unknown) =>
      bodyTexts(query, 'processInstanceIds').flatMap((id) => history[id] ?? [])
    const { ask } = findIn({ '/history/process-instance': listed }, [], { params: { id: 'review:1' } })
    const told = async (...processInstanceIds: readonly string[]) =>
      (await ask('restartedInstances', { processInstanceIds }))?.map(({ id }) => id)
    t.same(await told('p0', 'p1'), ['p0', 'p1'])
    for (const id of ['active', 'moved', 'nosuch']) t.same(await told('p0', id, 'p1'), ['p0'], id)
    t.same(await told('p0', 'theirs', 'p1'), ['p0', 'theirs', 'p1'], 'another tenant’s is refused as such')
  },
)

t.test('a conditional start names its definition, even if no condition waits now', async (t) => {
  const { ask } = findIn({ '/event-subscription': [] })
  const told = (processDefinitionId: string) =>
    ask('conditionalStarts', { processDefinitionId, withoutTenantId: true })
  t.match(await told('review:1'), [{ processDefinitionKey: 'review', tenantId: null }])
  t.same(await told('nosuch:1'), [])
})
