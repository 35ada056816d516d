import t from 'tap'
import { Suggester } from '../../../../src/policy/authz/explain/suggest.ts'
import { RESOURCES } from '../../../../src/operations/permissions.ts'

const readTask = (at: number) => ({ permission: 'READ', resource: 'Task', resourceId: `t${at}`, need: 0 })
const readByKey = (at: number) => ({
  permission: 'READ_TASK',
  resource: 'ProcessDefinition',
  resourceId: `d${at}`,
  need: 0,
})

/** What is suggested to mary, who lacked a task of its own definition so many times. */
function suggestFor(count: number, hasAlternative: boolean) {
  const suggester = new Suggester()
  for (let at = 0; at < count; at += 1) {
    const missing = hasAlternative ? [readTask(at), readByKey(at)] : [readTask(at)]
    suggester.add({ user: 'mary', missing })
  }
  const { records, ...rest } = suggester.suggest()
  return { ...rest, resourceTypes: [...new Set(records.map(({ record }) => record.resourceType))] }
}

t.test('ten ids are listed, and more only where there is no definition to grant', (t) => {
  const { TASK, PROCESS_DEFINITION } = RESOURCES
  for (const [count, hasAlternative, crowded, resourceType] of [
    [10, true, [], TASK.id],
    [11, true, ['PROCESS_DEFINITION.READ_TASK'], PROCESS_DEFINITION.id],
    [10, false, [], TASK.id],
    [11, false, ['TASK.READ'], TASK.id],
  ] as const)
    t.same(suggestFor(count, hasAlternative), {
      needs: count,
      unmet: 0,
      crowded,
      resourceTypes: [resourceType],
    })
  t.end()
})

t.test('what is lacked twice is one need, and the users of a group are one', (t) => {
  const group = new Suggester('clerks')
  for (const user of ['mary', 'anna', 'mary']) group.add({ user, missing: [readTask(1)] })
  const { records, needs } = group.suggest()
  t.equal(needs, 1)
  t.match(records, [{ times: 3, record: { groupId: 'clerks', resourceId: 't1' } }])
  const each = new Suggester()
  for (const user of ['mary', 'anna']) each.add({ user, missing: [readTask(1)] })
  t.match(
    each.suggest().records.map(({ record }) => record.userId),
    ['mary', 'anna'],
  )
  t.end()
})

t.test('a resource that is not known here is a need that nothing meets', (t) => {
  const suggester = new Suggester()
  suggester.add({ user: 'mary', missing: [{ ...readTask(1), resource: 'Novelty' }] })
  t.same(suggester.suggest(), { records: [], needs: 1, unmet: 1, crowded: [] })
  const some = new Suggester()
  some.add({ user: 'mary', missing: [readTask(1), { ...readTask(2), resource: 'Novelty', need: 1 }] })
  t.match(some.suggest(), { records: [{ record: { resourceId: 't1' } }], unmet: 1 })
  t.end()
})
