import t from 'tap'
import { nameCaller } from '../../../src/lists/rewrite/name-caller.ts'

const MARY = { userId: 'mary', groups: ['reviewers', 'sales'] }

function named(text: string, part: 'whole' | 'blocks' = 'whole', caller = MARY): string | null {
  const query: unknown = JSON.parse(text)
  return nameCaller({ bytes: Buffer.from(text), query }, caller, part)?.toString() ?? null
}

t.test('the values of the caller replace the expressions, and no other byte changes', (t) => {
  t.equal(
    named('{"assigneeExpression":"${currentUser()}" , "priority": 1.50}'),
    '{"priority": 1.50,"assignee": "mary"}',
  )
  t.same(JSON.parse(named('{"candidateGroupsExpression":"${ currentUserGroups() }"}') ?? ''), {
    candidateGroups: ['reviewers', 'sales'],
  })
  t.same(JSON.parse(named('{"a":1,"assigneeExpressio\\u006e":"#{currentUser()}"}') ?? ''), {
    a: 1,
    assignee: 'mary',
  })
  t.end()
})

t.test('the value of an expression counts more than the plain member, as in the engine', (t) => {
  t.same(JSON.parse(named('{"assignee":"ben","assigneeExpression":"${currentUser()}"}') ?? ''), {
    assignee: 'mary',
  })
  t.end()
})

t.test(
  'expressions in or-blocks are replaced; outside of them only if the engine accepts them there',
  (t) => {
    const text = JSON.stringify({
      ownerExpression: '${currentUser()}',
      orQueries: [{}, null, { candidateUserExpression: '${currentUser()}', name: 'x' }],
    })
    t.same(JSON.parse(named(text, 'blocks') ?? ''), {
      ownerExpression: '${currentUser()}',
      orQueries: [{}, null, { name: 'x', candidateUser: 'mary' }],
    })
    t.same(JSON.parse(named(text, 'whole') ?? ''), {
      owner: 'mary',
      orQueries: [{}, null, { name: 'x', candidateUser: 'mary' }],
    })
    t.end()
  },
)

t.test('a query that does not name the caller stays as it is', (t) => {
  const texts = [
    '{}',
    '[]',
    'null',
    '{"orQueries":"${currentUser()}"}',
    '{"orQueries":[{"dueAfterExpression":"${now()}"}]}',
    '{"assigneeExpression":null}',
    '{"assignee":"${currentUser()}"}',
    '{"assigneeExpression":"${currentUser().concat(1)}"}',
  ]
  for (const text of texts) t.equal(named(text), null, text)
  t.equal(named('{"assigneeExpression":"${currentUser()}"}', 'blocks'), null)
  const groups = '{"candidateGroupsExpression":"${currentUserGroups()}"}'
  t.equal(named(groups, 'whole', { userId: 'mary', groups: [] }), null)
  t.end()
})
