import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { createdIdsOf } from '../../src/pipeline/created-ids.ts'

const answerOf = (value: unknown) => Buffer.from(JSON.stringify(value))
const idsIn = (creates: `answer:${string}`, answer: Buffer | null) =>
  createdIdsOf({ creates }, { response: answer, body: { id: 'not this one' } })

t.test('a created id is found at the position that its operation names', (t) => {
  t.same(idsIn('answer:id', answerOf({ links: [], id: 'a' })), ['a'])
  t.same(idsIn('answer:[].id', answerOf([{ id: 'a' }, {}, { id: 'b' }])), ['a', 'b'])
  t.same(idsIn('answer:[].processInstance.id', answerOf([{ processInstance: { id: 'a' } }])), ['a'])
  const sent = { profile: { id: 'mary' } }
  t.same(createdIdsOf({ creates: 'body:profile.id' }, { response: null, body: sent }), ['mary'])
  t.end()
})

t.test('a missing or unreadable id is left out', (t) => {
  t.same(createdIdsOf({}, { response: answerOf({ id: 'a' }), body: { id: 'a' } }), [])
  for (const value of [
    null,
    'a',
    1,
    [],
    {},
    { id: 1 },
    { id: null },
    { id: '' },
    { id: { id: 'a' } },
    [{ id: 'a' }],
  ])
    t.same(idsIn('answer:id', answerOf(value)), [], JSON.stringify(value))
  for (const answer of [null, Buffer.from(''), Buffer.from('{"id":"a"'), Buffer.from([0x1f, 0x8b])])
    t.same(idsIn('answer:id', answer), [])
  t.equal(createdIdsOf({ creates: 'body:constructor.name' }, { response: null, body: {} }).length, 0)
  t.equal(idsIn('answer:[].id', answerOf(Array.from({ length: 100 }, () => ({ id: 'a' })))).length, 20)
  t.end()
})

t.test('every write that creates an entity under an id from its body declares that id', (t) => {
  const sent = OPERATIONS.flatMap(({ id, creates }) => (creates?.startsWith('body:') === true ? [id] : []))
  t.same(sent.toSorted(), ['createGroup', 'createTask', 'createTenant', 'createUser'])
  t.end()
})
