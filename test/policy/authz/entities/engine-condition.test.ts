import t from 'tap'
import { createFindCondition } from '../../../../src/policy/authz/entities/engine-condition.ts'
import { readJson } from '../../../../src/request/json.ts'

const leaf = (activityId: string) => ({
  id: `${activityId}:1`,
  activityId,
  childActivityInstances: [],
  childTransitionInstances: [],
})
const treeOf = (id: string, ...children: readonly object[]) => ({
  id,
  activityId: 'process',
  childActivityInstances: children,
  childTransitionInstances: [],
})
const idIn = (path: string) => path.split('/')[2] ?? ''

function ask(report: object, children: readonly object[] = []) {
  return createFindCondition({
    ask: async () => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(report)) }),
    read: async (path) => treeOf(idIn(path), ...children),
  })
}

const asked = (body: unknown) => ({
  principal: { userId: 'anna', groups: [], tenants: [] },
  params: { id: 'p' },
  query: new Map<string, string>(),
  body,
})

t.test('no activity is left active if every one is cancelled and none is started', async (t) => {
  const cancel = { type: 'cancel', activityId: 'a' }
  const start = { type: 'startBeforeActivity', activityId: 'a' }
  const cases = [
    [[leaf('a')], [cancel], true],
    [[leaf('a'), leaf('b')], [cancel], false],
    [[leaf('a')], [cancel, start], false],
    [[leaf('a')], [start], false],
    // The started activity may have ended by then, or be cancelled with the rest.
    [[leaf('a')], [start, cancel], null],
    [[leaf('a'), leaf('b')], [start, cancel], false],
    [[leaf('a')], [{ type: 'cancel', activityInstanceId: 'p' }], true],
    [
      [{ ...leaf('scope'), childActivityInstances: [leaf('b')] }],
      [{ type: 'cancel', activityInstanceId: 'scope:1' }],
      true,
    ],
    [[leaf('a')], [{ type: 'cancel', activityInstanceId: 'b:1' }], false],
    // If ids are numbers, clients may send them as numbers.
    [[{ ...leaf('a'), id: '49' }], [{ type: 'cancel', activityInstanceId: 49 }], true],
  ] as const
  for (const [children, instructions, expected] of cases)
    t.equal(await ask({}, children)('nothing is left active', asked({ instructions })), expected)
})

t.test('a plan is valid if the engine reports nothing about it', async (t) => {
  const plan = asked({ migrationPlan: {} })
  t.equal(await ask({ instructionReports: [], variableReports: {} })('the plan is valid', plan), true)
  t.equal(await ask({ instructionReports: [{ failures: ['no'] }] })('the plan is valid', plan), false)
  t.equal(
    await ask({ instructionReports: [], variableReports: { x: { failures: ['no'] } } })(
      'the plan is valid',
      plan,
    ),
    false,
  )
})

t.test('the plan is sent to the engine with the digits of the request', async (t) => {
  const bodies: unknown[] = []
  const findCondition = createFindCondition({
    ask: async ({ body }) => {
      bodies.push(JSON.stringify(body))
      return { status: 400, body: Buffer.from('') }
    },
    read: async () => null,
  })
  const plan = '{"variables":{"x":{"value":9223372036854775807,"y":[1.0,"1.0"]}},"a":null}'
  const body = readJson(Buffer.from(`{"migrationPlan":${plan}}`))
  t.equal(await findCondition('the plan is valid', asked(body)), false)
  t.same(bodies, [plan])
})

/** Checks `count` instances, of which the instance `emptied` loses all activities. */
async function askMany(count: number, { emptied, type = 'cancel' }: { emptied: number; type?: string }) {
  let [now, most, reads] = [0, 0, 0]
  const findCondition = createFindCondition({
    ask: async () => ({ status: 500, body: Buffer.from('') }),
    read: async (path) => {
      reads += 1
      now += 1
      most = Math.max(most, now)
      await Promise.resolve()
      now -= 1
      return treeOf(idIn(path), leaf(path === `/process-instance/${emptied}/activity-instances` ? 'a' : 'b'))
    },
  })
  const processInstanceIds = Array.from({ length: count }, (_, at) => `${at}`)
  const body = { processInstanceIds, instructions: [{ type, activityId: 'a' }] }
  const found = await findCondition('nothing is left active', { ...asked(body), params: {} })
  return { found, most, reads }
}

t.test('many instances are read eight at a time, and no more than are needed to decide', async (t) => {
  t.same(await askMany(1000, { emptied: 999 }), { found: true, most: 8, reads: 1000 })
  t.same(await askMany(1000, { emptied: 3 }), { found: true, most: 8, reads: 8 })
  t.same(await askMany(20, { emptied: -1 }), { found: false, most: 8, reads: 20 })
})

t.test('if an activity is started, no instance is read', async (t) => {
  t.same(await askMany(5, { emptied: 1, type: 'startBeforeActivity' }), { found: false, most: 0, reads: 0 })
})

t.test('more than ten thousand named instances are not read', async (t) => {
  t.same(await askMany(10_001, { emptied: 0 }), { found: null, most: 0, reads: 0 })
})

t.test('each of at most a thousand instances is read once, eight at a time', async (t) => {
  const seen: string[] = []
  let [now, most] = [0, 0]
  const findCondition = createFindCondition({
    ask: async () => ({ status: 200, body: Buffer.from('{}') }),
    read: async (path) => {
      seen.push(path)
      now += 1
      most = Math.max(most, now)
      await Promise.resolve()
      now -= 1
      return treeOf(idIn(path), leaf('a'), leaf('b'))
    },
  })
  const instructions = [{ type: 'cancel', activityId: 'a' }]
  const ids = Array.from({ length: 1000 }, (_, at) => `p${at}`)
  const askAbout = (processInstanceIds: readonly string[], more = {}) =>
    findCondition('nothing is left active', {
      ...asked({ instructions, processInstanceIds }),
      params: {},
      ...more,
    })
  t.equal(await askAbout([...ids, ...ids, ...ids]), false)
  t.same([seen.length, most], [1000, 8])
  t.equal(await askAbout([...ids, 'one more']), null)
  t.equal(seen.length, 1000)
  let hops = 0
  const checkDeadline = (): void => {
    hops += 1
    if (hops === 3) throw new Error('left')
  }
  await t.rejects(askAbout(ids, { checkDeadline }), { message: 'left' })
  t.equal(seen.length, 1016)
})
