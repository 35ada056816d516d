import t from 'tap'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { effectOf } from '../../src/operations/effect.ts'
import type { Method, OperationEntry } from '../../src/operations/table.ts'

const ITEMS = { anyOf: ['TASK.READ item:id'] } as const

function rowOf(method: Method, fields: Partial<OperationEntry> = {}): OperationEntry {
  return { route: `${method} /a`, checks: [], ...fields }
}

t.test('without an effect, GET, OPTIONS and a query by POST read, and all other operations write', (t) => {
  for (const method of ['GET', 'OPTIONS'] as const) t.equal(effectOf(rowOf(method)), 'read', method)
  for (const method of ['POST', 'PUT', 'DELETE'] as const) t.equal(effectOf(rowOf(method)), 'write', method)
  t.equal(effectOf(rowOf('POST', { items: ITEMS })), 'read')
  t.equal(effectOf(rowOf('POST', { items: { ...ITEMS, form: 'count' } })), 'read')
  t.equal(effectOf(rowOf('POST', { items: { ...ITEMS, form: 'locks' } })), 'write')
  t.equal(effectOf(rowOf('PUT', { items: ITEMS })), 'write')
  t.end()
})

t.test('the effect that a row names replaces the default', (t) => {
  t.equal(effectOf(rowOf('POST', { effect: 'read' })), 'read')
  t.equal(effectOf(rowOf('POST', { effect: 'write', items: ITEMS })), 'write')
  t.end()
})

const WRONG: readonly (readonly [mistake: string, row: OperationEntry])[] = [
  ['its method changes an entity', rowOf('PUT', { effect: 'read' })],
  ['its method changes an entity', rowOf('DELETE', { effect: 'read' })],
  ['locks its items', rowOf('POST', { effect: 'read', items: { ...ITEMS, form: 'locks' } })],
  ['has `creates`', rowOf('POST', { creates: 'answer:id', items: ITEMS })],
  ['has `changes`', rowOf('GET', { changes: ['deployments'] })],
  ['has `changes`', rowOf('POST', { effect: 'read', changes: ['records'] })],
  ['has `idempotencyKey`', rowOf('POST', { effect: 'read', idempotencyKey: true })],
  ['has `conflict`', rowOf('POST', { effect: 'read', conflict: 'repeat' })],
  ['has `auditedChange`', rowOf('GET', { auditedChange: { action: 'delete', user: 'path:id' } })],
  ['has `newTasks`', rowOf('POST', { effect: 'read', newTasks: 'none' })],
  ['has `cache`', rowOf('POST', { cache: 'names' })],
]

t.test('an effect that contradicts another field is an error at startup', (t) => {
  for (const [mistake, row] of WRONG)
    t.throws(() => operationsOf({ tag: { one: row } }), { message: new RegExp(mistake) }, mistake)
  t.end()
})
