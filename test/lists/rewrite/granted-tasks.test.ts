import t from 'tap'
import { linkBitsOf } from '../../../src/policy/authz/entities/implicit-grants.ts'
import { compileRestriction } from '../../../src/lists/visibility/compile-restriction.ts'
import { grantedTasks } from '../../../src/lists/rewrite/granted-tasks.ts'
import { isVisible, visibilityOf } from '../../../src/lists/visibility/visibility.ts'
import { recordsOf } from '../../support/record-lines.ts'
import { Random } from '../../differential/random.ts'
import { seedsOf } from '../../support/requirements.ts'

const SEEDS = 2000
const LINK_BITS = linkBitsOf({ taskPermission: 'UPDATE', specificVariables: false })
const restriction = compileRestriction({
  anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
  exempt: 'case',
})
const principal = { userId: 'anna', groups: ['clerks'], tenants: [] }
const KEYS = ['a', 'b', 'c', null]
const TASKS = ['t1', 't2', 't3', 't4']

function subjectOf(line: string): string {
  return line.slice(0, line.lastIndexOf(' '))
}

function linesOf(random: Random): readonly string[] {
  const lines = Array.from({ length: random.below(6) }, () => {
    const kind = random.chance(0.4) ? 'revoke' : 'grant'
    const who = random.pick(['anna', '@clerks'])
    return random.chance(0.5)
      ? `${kind} ${who} TASK:${random.pick([...TASKS.slice(0, 3), '*'])} ${random.pick(['READ', 'UPDATE'])}`
      : `${kind} ${who} PROCESS_DEFINITION:${random.pick(['a', 'b', '*'])} ${random.pick(['READ_TASK', 'READ'])}`
  })
  return lines.filter((line, at) => lines.findIndex((one) => subjectOf(one) === subjectOf(line)) === at)
}

t.test('the keys and ids of a query select exactly the visible tasks', (t) => {
  const narrowed = { plain: 0, revoked: 0 }
  for (const seed of seedsOf(SEEDS)) {
    const random = new Random(seed)
    const lines = linesOf(random)
    const linked = random.chance(0.3) ? random.sample(TASKS, 1) : []
    const viewer = {
      principal,
      records: recordsOf(lines),
      tenants: null,
      implicitGrants: { user: new Set(linked), groups: new Set<string>(), bits: LINK_BITS },
      impliesIdentity: false,
    }
    // Then the query is not restricted.
    if (visibilityOf(restriction, principal, viewer.records) === 'all') continue
    const granted = grantedTasks(restriction, viewer, 'care')
    if (granted === 'all but some') continue
    narrowed[lines.some((line) => line.startsWith('revoke')) ? 'revoked' : 'plain'] += 1
    for (const key of KEYS)
      for (const id of TASKS) {
        const isSeen = isVisible(restriction, {}, (name) => (name === 'taskId' ? id : key), viewer)
        const isNamed =
          granted.taskIds.includes(id) || (key !== null && granted.processDefinitionKeys.includes(key))
        if (isSeen !== isNamed) t.fail(`seed ${seed}: ${id} of ${key}: ${lines.join('; ')}`)
      }
  }
  t.ok(narrowed.plain > 200 && narrowed.revoked > 200, JSON.stringify(narrowed))
  t.end()
})
