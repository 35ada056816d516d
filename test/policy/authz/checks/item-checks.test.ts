import t from 'tap'
import { compilePolicies } from '../../../../src/policy/authz/compile-policies.ts'
import { createItemChecks } from '../../../../src/policy/authz/checks/item-checks.ts'
import { PERMITTED } from '../../../../src/policy/authz/checks/decision.ts'
import { OPERATIONS } from '../../../../src/operations/all.ts'

t.test('other work runs between the decisions about a long list', async (t) => {
  const policy = compilePolicies(OPERATIONS).get('getTaskVariables')
  if (policy === undefined) throw new Error('no such operation')
  let decided = 0
  const decidedAtTurns: number[] = []
  const before = () => {
    decided += 1
    return PERMITTED
  }
  const options = {
    readItemAttributes: async (_template: string, list: readonly unknown[]) => list.map(() => () => null),
    implicitGrants: null,
  }
  const check = createItemChecks(policy.checks, { authorize: before, verifyCreated: null }, options)
  const items = Array.from({ length: 3500 }, (_, index) => ({ id: `t${index}` }))
  let isOver = false
  const watch = () => {
    decidedAtTurns.push(decided)
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  const principal = { userId: 'mary', groups: [], tenants: [] }
  const request = { principal, params: {}, query: new Map<string, string>(), body: undefined }
  t.same(await check(request, '/task', items), PERMITTED)
  isOver = true
  t.ok(decidedAtTurns.length >= 3, 'other work ran meanwhile')
  t.equal(decided, items.length)
  const steps = decidedAtTurns.map((count, index) => count - (decidedAtTurns[index - 1] ?? 0))
  t.ok(Math.max(...steps) <= 1000, steps.join())
})
