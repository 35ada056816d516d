import t from 'tap'
import { LoadedEntities } from '../../../../src/policy/authz/entities/loaded-entities.ts'

t.test('what was looked up is known, and what is not there', (t) => {
  const loaded = new LoadedEntities()
  t.equal(loaded.find('task', 't1'), undefined)
  t.equal(loaded.lacksEntity(), false)
  const task = { processDefinitionKey: 'review' }
  t.equal(loaded.add('task', 't1', task), task)
  t.equal(loaded.find('task', 't1'), task)
  t.equal(loaded.find('execution', 't1'), undefined)
  t.equal(loaded.find('task', 't2'), undefined)
  t.equal(loaded.lacksEntity(), false)
  loaded.add('task', 't2', null)
  t.equal(loaded.find('task', 't2'), null)
  t.equal(loaded.lacksEntity(), true)
  t.end()
})

t.test('of those that were listed, the ones that were not found are not there', (t) => {
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
