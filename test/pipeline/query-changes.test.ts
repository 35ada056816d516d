import t from 'tap'
import { queryChangesOf } from '../../src/pipeline/query-changes.ts'

const none = new Map<string, string>()
const text = new Map([['deserializeValues', 'false']])
const objects = new Map([['deserializeValues', 'true']])

t.test('a rule has changed a query if a parameter of it has another value', (t) => {
  const id = 'getTaskVariables'
  const rule = { rule: 'deserialization', stage: 'body' }
  t.same(queryChangesOf({ id }, none, text), [{ ...rule, isReplacement: false }])
  t.same(queryChangesOf({ id }, objects, text), [{ ...rule, isReplacement: true }])
  t.same(queryChangesOf({ id }, text, text), [])
  t.same(queryChangesOf({ id: 'getTasks' }, none, text), [], 'the operation has no such parameter')
  t.end()
})

t.test('two rules can change one query', (t) => {
  const sent = new Map([...text, ['maxResults', '3']])
  t.same(queryChangesOf({ id: 'getVariableInstances' }, new Map([['maxResults', '9']]), sent), [
    { rule: 'limits.maxResults', stage: 'rules', isReplacement: true },
    { rule: 'deserialization', stage: 'body', isReplacement: false },
  ])
  t.end()
})
