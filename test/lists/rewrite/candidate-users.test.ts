import t from 'tap'
import {
  type CandidateTasks,
  candidateUsersOf,
  selectCandidates,
} from '../../../src/lists/rewrite/candidate-users.ts'

const GROUPS: CandidateTasks = { by: 'groups', groups: ['g1', 'g2'] }
const IDS: CandidateTasks = { by: 'ids', taskIds: ['t1'], groups: ['g1'] }
const NOTHING: CandidateTasks = { by: 'ids', taskIds: [], groups: [] }
const ENGINE: CandidateTasks = { by: 'engine' }

/** Returns the changed query, if all candidate users select the same tasks. */
function changed(query: Readonly<Record<string, unknown>>, tasks: CandidateTasks): unknown {
  const selected = candidateUsersOf(query).map((candidate) => ({ ...candidate, tasks }))
  const body = selectCandidates(Buffer.from(JSON.stringify(query)), query, selected)
  return body === null ? null : JSON.parse(body.toString())
}

const CASES = [
  { query: { name: 'a' }, tasks: GROUPS, result: null },
  { query: { candidateUser: 'x' }, tasks: ENGINE, result: null },
  { query: { candidateUser: null }, tasks: GROUPS, result: null },
  {
    query: { candidateUser: 'x', name: 'a' },
    tasks: GROUPS,
    result: { name: 'a', orQueries: [{ candidateUser: 'x', candidateGroups: ['g1', 'g2'] }] },
  },
  {
    query: { candidateUser: 'x', includeAssignedTasks: true, candidateGroupLike: 'a%' },
    tasks: GROUPS,
    result: {
      orQueries: [
        {
          candidateUser: 'x',
          candidateGroupLike: 'a%',
          includeAssignedTasks: true,
          candidateGroups: ['g1', 'g2'],
        },
      ],
    },
  },
  {
    query: { candidateUser: 'x', includeAssignedTasks: true, withCandidateUsers: true },
    tasks: GROUPS,
    result: {
      includeAssignedTasks: true,
      withCandidateUsers: true,
      orQueries: [{ candidateUser: 'x', includeAssignedTasks: true, candidateGroups: ['g1', 'g2'] }],
    },
  },
  {
    query: { candidateUser: 'x', orQueries: [{ candidateGroup: 'g3' }] },
    tasks: GROUPS,
    result: { orQueries: [{ candidateGroup: 'g3' }, { candidateUser: 'x', candidateGroups: ['g1', 'g2'] }] },
  },
  {
    query: { orQueries: [{ name: 'a' }, { candidateUser: 'x', candidateGroups: ['g2', 'g3'] }] },
    tasks: GROUPS,
    result: { orQueries: [{ name: 'a' }, { candidateUser: 'x', candidateGroups: ['g2', 'g3', 'g1'] }] },
  },
  {
    query: { candidateUser: 'x', includeAssignedTasks: true },
    tasks: IDS,
    result: { orQueries: [{ taskIdIn: ['t1'], candidateGroups: ['g1'], includeAssignedTasks: true }] },
  },
  {
    query: { orQueries: [{ candidateUser: 'x', taskIdIn: ['t2'], includeAssignedTasks: true }] },
    tasks: { ...NOTHING },
    result: { orQueries: [{ taskIdIn: ['t2'] }] },
  },
  {
    query: { candidateUser: 'x', includeAssignedTasks: true },
    tasks: NOTHING,
    result: { orQueries: [{ taskIdIn: ['-'.repeat(65)] }] },
  },
]

for (const { query, tasks, result } of CASES)
  t.test(`candidate users select other tasks: ${JSON.stringify(query)}, by ${tasks.by}`, async (t) => {
    t.same(changed(query, tasks), result)
  })

const REFUSED = [
  { query: { candidateUser: 'x', withCandidateGroups: true }, tasks: IDS },
  { query: { candidateUser: 5 }, tasks: ENGINE },
  { query: { candidateUser: 'x', involvedUser: 'y' }, tasks: IDS },
  { query: { candidateUser: 'x', orQueries: [{ candidateGroup: 'g' }] }, tasks: IDS },
  { query: { candidateUser: 'x', involvedUserExpression: '${y}' }, tasks: GROUPS },
  { query: { orQueries: [{ candidateUser: 'x', candidateGroups: [5] }] }, tasks: GROUPS },
  {
    query: { candidateUser: 'x' },
    tasks: { by: 'ids', groups: [], taskIds: Array.from({ length: 1001 }, (_, at) => `t${at}`) } as const,
  },
]

for (const { query, tasks } of REFUSED)
  t.test(
    `no query selects the tasks, so it is refused: ${JSON.stringify(query)}, by ${tasks.by}`,
    async (t) => {
      t.throws(() => changed(query, tasks), { code: 'GW_ITEMS_NOT_EXACT' })
    },
  )

t.test('a query that every engine refuses is not changed, so that the engine responds', async (t) => {
  t.same(candidateUsersOf({ candidateUser: 'x', candidateGroup: 'g' }), [])
})

t.test('numbers of a changed query keep their digits', async (t) => {
  const text = '{"candidateUser":"x","processVariables":[{"value":12345678901234567890}]}'
  const query = JSON.parse(text)
  const selected = candidateUsersOf(query).map((candidate) => ({ ...candidate, tasks: GROUPS }))
  t.match(selectCandidates(Buffer.from(text), query, selected)?.toString(), '12345678901234567890')
})
