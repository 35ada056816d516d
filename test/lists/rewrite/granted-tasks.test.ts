import t from 'tap'
import { linkBitsOf } from '../../../src/policy/authz/entities/implicit-grants.ts'
import { compileRestriction } from '../../../src/policy/authz/visibility/compile-restriction.ts'
import { grantedTasks, hiddenTasks } from '../../../src/lists/rewrite/granted-tasks.ts'
import { isVisible, visibilityOf } from '../../../src/policy/authz/visibility/visibility.ts'
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
    if (typeof granted === 'string') continue
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

t.test('tasks of a granted definition are not named by their ids', (t) => {
  const subject = {
    principal,
    records: recordsOf(['grant anna PROCESS_DEFINITION:a READ_TASK']),
    tenants: null,
    impliesIdentity: false,
  }
  const linkedTo = (user: readonly string[], keys: readonly (readonly [string, string])[]) => ({
    ...subject,
    implicitGrants: {
      user: new Set(user),
      groups: new Set<string>(),
      keys: new Map(keys),
      bits: LINK_BITS,
    },
  })
  const few = [
    ['t1', 'a'],
    ['t2', 'b'],
  ] as const
  t.same(grantedTasks(restriction, linkedTo(['t1', 't2', 't3'], few), null), {
    processDefinitionKeys: ['a'],
    taskIds: ['t2', 't3'],
    caseKey: null,
  })
  const ids = Array.from({ length: 5001 }, (_, at) => `x${at}`)
  const ofGranted = linkedTo(
    ids,
    ids.map((id) => [id, 'a']),
  )
  t.same(grantedTasks(restriction, ofGranted, null), {
    processDefinitionKeys: ['a'],
    taskIds: [],
    caseKey: null,
  })
  t.equal(grantedTasks(restriction, linkedTo(ids, []), null), 'too many')
  t.end()
})

t.test('the hidden keys and ids leave out exactly the hidden tasks if all but some are visible', (t) => {
  const counted = { keys: 0, shown: 0, hidden: 0 }
  for (const seed of seedsOf(SEEDS)) {
    const random = new Random(seed)
    const lines = ['grant @clerks PROCESS_DEFINITION:* READ_TASK', ...linesOf(random)]
    const records = lines.filter(
      (line, at) => lines.findIndex((one) => subjectOf(one) === subjectOf(line)) === at,
    )
    const user = new Set(random.chance(0.3) ? random.sample(TASKS, 1) : [])
    const implicitGrants = { user, groups: new Set<string>(), bits: LINK_BITS }
    const subject = {
      principal,
      records: recordsOf(records),
      tenants: null,
      implicitGrants,
      impliesIdentity: false,
    }
    if (grantedTasks(restriction, subject, null) !== 'all but some') continue
    const hidden = hiddenTasks(restriction, subject, false)
    // Single tasks of visible definitions are hidden from a caller who does not see all definitions.
    if (hidden === null) continue
    const { processDefinitionKeys, shownIds, hiddenIds } = hidden
    counted.keys += processDefinitionKeys.length
    counted.shown += shownIds.length
    counted.hidden += hiddenIds.length
    if (hiddenIds.length > 0) t.equal(hiddenTasks(restriction, subject, true), null)
    for (const key of KEYS)
      for (const id of TASKS) {
        const isSeen = isVisible(restriction, {}, (name) => (name === 'taskId' ? id : key), subject)
        const isOfKey = key !== null && processDefinitionKeys.includes(key)
        const isCounted =
          1 -
          Number(isOfKey) +
          Number(isOfKey && shownIds.includes(id)) -
          Number(hiddenIds.includes(id)) +
          Number(isOfKey && hiddenIds.includes(id))
        if (Number(isSeen) !== isCounted) t.fail(`seed ${seed}: ${id} of ${key}: ${records.join('; ')}`)
      }
  }
  t.ok(
    Object.values(counted).every((count) => count > 50),
    JSON.stringify(counted),
  )
  t.end()
})
