import t from 'tap'
import { memberChangeOf } from '../../src/pipeline/audited-change.ts'
import { changeRecordOf } from '../../src/metrics/audit-changes.ts'

const REQUEST = {
  params: { id: 'p-1', userId: 'mary' },
  body: undefined,
  response: null,
  former: 'unknown',
} as const
const FORMER = {
  id: 'p-1',
  type: 1,
  userId: null,
  groupId: 'clerks',
  resourceType: 7,
  resourceId: '*',
  permissions: ['READ'],
} as const

t.test('a membership names both entities', (t) => {
  const change = memberChangeOf({ action: 'add', user: 'path:userId', group: 'path:id' }, REQUEST)
  t.same(changeRecordOf(change), {
    action: 'add',
    user: 'mary',
    group: 'p-1',
    before: undefined,
    after: undefined,
  })
  t.end()
})

t.test('the first place with an id counts', (t) => {
  const update = { action: 'update', user: 'body:id path:id' } as const
  const cases = [
    [{ id: 'other', firstName: 'Mary' }, 'other'],
    [{ firstName: 'Mary' }, 'p-1'],
  ] as const
  for (const [body, user] of cases) t.same(memberChangeOf(update, { ...REQUEST, body }).ids, { user })
  t.end()
})

t.test('a created record has the members of the request and the id of the response', (t) => {
  const body = {
    type: 1,
    userId: 'mary',
    groupId: null,
    resourceType: '6',
    resourceId: 'review',
    permissions: ['READ', 7],
    password: 'hunter2',
  }
  const change = memberChangeOf(
    { action: 'create', authorization: 'answer:id' },
    { ...REQUEST, body, response: { id: 'a-1' } },
  )
  t.same(change, {
    action: 'create',
    ids: { authorization: 'a-1' },
    before: null,
    after: {
      type: 1,
      userId: 'mary',
      resourceType: 6,
      resource: 'ProcessDefinition',
      resourceId: 'review',
      permissions: ['READ', '7'],
    },
  })
  t.end()
})

t.test('the record before an update or a deletion is shown, or unknown', (t) => {
  const before = {
    type: 1,
    groupId: 'clerks',
    resourceType: 7,
    resource: 'Task',
    resourceId: '*',
    permissions: ['READ'],
  }
  const update = { action: 'update', authorization: 'path:id' } as const
  const body = { permissions: [], resourceType: 99, userId: 'x' }
  t.match(memberChangeOf(update, { ...REQUEST, body, former: FORMER }), {
    ids: { authorization: 'p-1' },
    before,
    after: { permissions: [], resourceType: 99, userId: 'x' },
  })
  t.equal(memberChangeOf(update, { ...REQUEST, body }).before, 'unknown')
  const deletion = memberChangeOf(
    { action: 'delete', authorization: 'path:id' },
    { ...REQUEST, former: FORMER },
  )
  t.same(deletion, { action: 'delete', ids: { authorization: 'p-1' }, before, after: null })
  t.end()
})

t.test('a body in another form names nothing', (t) => {
  for (const body of [null, [], 'text', 7, { permissions: 'ALL', resourceType: '', type: {}, userId: [] }])
    t.same(
      memberChangeOf(
        { action: 'create', authorization: 'answer:id', user: 'body:profile.id' },
        { ...REQUEST, body },
      ),
      { action: 'create', ids: {}, before: null, after: {} },
    )
  t.end()
})

t.test('long texts and lists are cut in a line', (t) => {
  const permissions = Array.from({ length: 1000 }, () => 'P'.repeat(1000))
  const change = memberChangeOf(
    { action: 'create', authorization: 'answer:id' },
    { ...REQUEST, body: { permissions, userId: 'u'.repeat(1000) } },
  )
  const text = JSON.stringify(changeRecordOf(change))
  t.ok(text.length < 27_000, `${text.length} characters`)
  t.notMatch(text, /u{257}/)
  t.end()
})
