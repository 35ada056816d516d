import { readFileSync } from 'node:fs'
import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import {
  CEILINGS,
  ceilingPermits,
  lowerOf,
  MEMBERS_ABOVE_SAFE,
  SAFE_WRITES,
} from '../../src/operations/ceilings.ts'
import { publishedOperation, publishedSchema } from '../../src/operations/published/facts.ts'
import type { Operation } from '../../src/operations/table.ts'

function lowestOf(operation: Operation): string {
  return CEILINGS.find((ceiling) => ceilingPermits(ceiling, operation)) ?? 'none'
}

t.test('the page about operations shows the lowest ceiling of every operation', (t) => {
  const rows = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8').split('\n')
  for (const operation of OPERATIONS) {
    const row = rows.find((line) => line.includes(`<br>\`${operation.id}\`<br>`)) ?? ''
    const notes = (row.split(' | ').at(-1) ?? '').replace(/ *\|$/, '').split(', ')
    const shown = notes.includes('repeated') ? 'read' : notes.includes('safe') ? 'safe' : 'all'
    t.equal(shown, lowestOf(operation), operation.id)
  }
  t.end()
})

t.test('the page about ceilings lists every safe write, and no other operation', (t) => {
  const page = readFileSync(new URL('../../docs/configuration/ceilings.md', import.meta.url), 'utf8')
  const [, section = ''] = /## Safe writes\n([^]*?)\n## /.exec(page) ?? []
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
  t.same(listed.toSorted(), [...SAFE_WRITES].toSorted())
  t.end()
})

t.test('every safe write is a write of the table', (t) => {
  const writes = new Set(OPERATIONS.filter(({ effect }) => effect === 'write').map(({ id }) => id))
  t.same(
    [...SAFE_WRITES].filter((id) => !writes.has(id)),
    [],
  )
  t.end()
})

t.test('an operation that is not classified is permitted only without a ceiling', (t) => {
  const added = { id: 'addedToday', effect: 'write' } as const
  t.same(
    CEILINGS.filter((ceiling) => ceilingPermits(ceiling, added)),
    ['all'],
  )
  t.end()
})

/** Returns the names of the members of the published body of an operation. */
function bodyMembersOf(id: string): readonly string[] {
  const body = publishedOperation(id)?.body
  return body?.kind === 'schema' ? [...publishedSchema(body.name).keys()] : []
}

t.test('a member above the ceiling safe belongs to a safe write that has it', (t) => {
  for (const [id, member] of MEMBERS_ABOVE_SAFE) {
    t.ok(SAFE_WRITES.has(id), id)
    t.ok(bodyMembersOf(id).includes(member), `${id} ${member}`)
  }
  const withMember = [...SAFE_WRITES].filter((id) => bodyMembersOf(id).includes('startInstructions'))
  t.same(withMember.toSorted(), [...MEMBERS_ABOVE_SAFE.keys()].toSorted())
  t.end()
})

t.test('a query by POST is a read, and fetchAndLock is a write', (t) => {
  const lowest = new Map(OPERATIONS.map((operation) => [operation.id, lowestOf(operation)]))
  for (const id of [
    'queryTasks',
    'queryTasksCount',
    'postExecuteFilterList',
    'queryHistoricProcessInstances',
  ])
    t.equal(lowest.get(id), 'read', id)
  t.equal(lowest.get('fetchAndLock'), 'safe')
  t.end()
})

/** The parts of a path by which these operations differ from safe ones. */
const NEVER_SAFE =
  /^\/(?:authorization|batch|deployment|filter|group|identity|job|job-definition|migration|modification|tenant|user)\b|\bmodification\b|\bdelete|\/(?:retries|suspended|history-time-to-live|restart|restart-async)$/

t.test('no safe write deploys, deletes, migrates, modifies, or changes permissions or identities', (t) => {
  const safe = OPERATIONS.filter(({ id }) => SAFE_WRITES.has(id))
  t.same(
    safe
      .filter(({ method, template }) => method === 'DELETE' || NEVER_SAFE.test(template))
      .map(({ id }) => id),
    ['setExternalTaskResourceRetries'],
    'only the retries of one external task',
  )
  t.same(
    safe
      .filter(({ changes, auditedChange }) => changes !== undefined || auditedChange !== undefined)
      .map(({ id }) => id),
    [],
  )
  t.same(
    safe.filter(({ selectors }) => selectors !== undefined).map(({ id }) => id),
    [],
    'none of them has a query or a list of ids in its body',
  )
  t.end()
})

t.test('the lower of two ceilings is the one that permits less', (t) => {
  t.equal(lowerOf('all', 'safe'), 'safe')
  t.equal(lowerOf('read', 'safe'), 'read')
  t.equal(lowerOf('all', 'all'), 'all')
  t.end()
})
