import t from 'tap'
import { Suggester } from '../../src/explain/suggest.ts'
import { RESOURCES } from '../../src/operations/permissions.ts'

const readTask = (at: number) => ({ permission: 'READ', resource: 'Task', resourceId: `t${at}`, need: 0 })
const readByKey = (at: number) => ({
  permission: 'READ_TASK',
  resource: 'ProcessDefinition',
  resourceId: `d${at}`,
  need: 0,
})

/** Returns the suggestion for mary, who lacked the permission on so many tasks, each of its own definition. */
function suggestFor(count: number, hasAlternative: boolean) {
  const suggester = new Suggester()
  for (let at = 0; at < count; at += 1) {
    const missing = hasAlternative ? [readTask(at), readByKey(at)] : [readTask(at)]
    suggester.add({ user: 'mary', missing })
  }
  const { records, ...rest } = suggester.suggest()
  return { ...rest, resourceTypes: [...new Set(records.map(({ record }) => record.resourceType))] }
}

t.test('ten ids are listed, and more only if no definition can be granted instead', (t) => {
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

t.test('a permission that is missing twice is one need, and so are users of one group', (t) => {
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

t.test('an unknown resource is a need that no grant meets', (t) => {
  const suggester = new Suggester()
  suggester.add({ user: 'mary', missing: [{ ...readTask(1), resource: 'Novelty' }] })
  t.same(suggester.suggest(), { records: [], needs: 1, unmet: 1, crowded: [] })
  const some = new Suggester()
  some.add({ user: 'mary', missing: [readTask(1), { ...readTask(2), resource: 'Novelty', need: 1 }] })
  t.match(some.suggest(), { records: [{ record: { resourceId: 't1' } }], unmet: 1 })
  t.end()
})
