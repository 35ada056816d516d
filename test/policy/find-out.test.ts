import t from 'tap'
import { createFindOut } from '../../src/policy/find-out.ts'

const leaf = (activityId: string) => ({ id: `${activityId}:1`, activityId, childActivityInstances: [] })
const tree = (...children: readonly object[]) => ({
  id: 'p',
  activityId: 'process',
  childActivityInstances: children,
})

function ask(report: object, children: readonly object[] = []) {
  return createFindOut({
    ask: async () => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(report)) }),
    read: async () => tree(...children),
  })
}

const asked = (body: unknown) => ({
  principal: { userId: 'anna', groups: [], tenants: [] },
  params: { id: 'p' },
  query: new Map<string, string>(),
  body,
})

t.test('nothing is left active once every activity is cancelled and none is started', async (t) => {
  const cancel = { type: 'cancel', activityId: 'a' }
  const start = { type: 'startBeforeActivity', activityId: 'a' }
  const cases = [
    [[leaf('a')], [cancel], true],
    [[leaf('a'), leaf('b')], [cancel], false],
    [[leaf('a')], [cancel, start], false],
    [
      [{ ...leaf('scope'), childActivityInstances: [leaf('b')] }],
      [{ type: 'cancel', activityInstanceId: 'scope:1' }],
      true,
    ],
    [[leaf('a')], [{ type: 'cancel', activityInstanceId: 'b:1' }], false],
  ] as const
  for (const [children, instructions, expected] of cases)
    t.equal(await ask({}, children)('nothing is left active', asked({ instructions })), expected)
})

t.test('a plan is valid when the engine reports nothing about it', async (t) => {
  const plan = asked({ migrationPlan: {} })
  t.equal(await ask({ instructionReports: [], variableReports: {} })('the plan is valid', plan), true)
  t.equal(await ask({ instructionReports: [{ failures: ['no'] }] })('the plan is valid', plan), false)
  t.equal(await ask({ variableReports: { x: { failures: ['no'] } } })('the plan is valid', plan), false)
})

t.test('what only the engine can know stays open', async (t) => {
  t.equal(await ask({})('body:x given', asked({})), null)
})
