import t from 'tap'
import { LoadedEntities } from '../../../../src/policy/authz/entities/loaded-entities.ts'

t.test('entities that were looked up are known, and so are those that do not exist', (t) => {
  const loaded = new LoadedEntities()
  t.equal(loaded.find('task', 't1'), undefined)
  t.equal(loaded.isNotFound(), false)
  const task = { processDefinitionKey: 'review' }
  t.equal(loaded.add('task', 't1', task), task)
  t.equal(loaded.find('task', 't1'), task)
  t.equal(loaded.find('execution', 't1'), undefined)
  t.equal(loaded.find('task', 't2'), undefined)
  t.equal(loaded.isNotFound(), false)
  loaded.add('task', 't2', null)
  t.equal(loaded.find('task', 't2'), null)
  t.equal(loaded.isNotFound(), true)
  t.end()
})

t.test('listed entities that were not found do not exist', (t) => {
  const loaded = new LoadedEntities()
  const one = { tenantId: 'acme' }
  loaded.list('execution', ['e1', 'e2'], new Map([['e1', one]]))
  t.equal(loaded.find('execution', 'e1'), one)
  t.equal(loaded.find('execution', 'e2'), null)
  t.equal(loaded.find('execution', 'e3'), undefined)
  t.equal(loaded.find('task', 'e1'), undefined)
  loaded.list('execution', [], new Map())
  t.equal(loaded.find('execution', 'e1'), undefined)
  t.end()
})
