import t from 'tap'
import { queryOf } from '../../../src/request/canonical.ts'
import { taskQueryOf } from '../../../src/lists/rewrite/narrow-tasks.ts'

t.test('query parameters are parsed as the engine parses them', async (t) => {
  for (const [query, pairs] of [
    ['?a=1&a=2', [['a', '1']]],
    [
      '?a&b=&=c',
      [
        ['a', ''],
        ['b', ''],
        ['', 'c'],
      ],
    ],
    ['?a=b+c%2Bd%20e', [['a', 'b c+d e']]],
    ['?%61=%C3%A4', [['a', 'ä']]],
    ['?a;b=c;d', [['a;b', 'c;d']]],
    [
      '??a=b&c=d',
      [
        ['?a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['???a=b', [['??a', 'b']]],
    ['?', []],
    ['', []],
  ] as const)
    t.same([...queryOf(`/task${query}`)], pairs, query)
})

/** In Camunda 7.22, POST with this body finds what GET with the query finds. */
const BODIES = [
  ['unassigned=1&assigned=-5', { unassigned: 1, assigned: -5 }],
  ['unassigned=TRUE', null],
  ['unassigned=%22TRUE%22&active=+true', { unassigned: 'TRUE', active: true }],
  ['unassigned=null', { unassigned: null }],
  ['priority=5.0&minPriority=%22+5%22&maxPriority=1e1', { priority: 5, minPriority: ' 5', maxPriority: 10 }],
  ['priority=2147483647.5', null],
  ['priority=5%C2%A0', null],
  ['priority=5%0Ax', { priority: 5 }],
  ['dueAfter=2020-01-01T00:00:00.000%2B0000%22x', { dueAfter: '2020-01-01T00:00:00.000+0000' }],
  ['dueAfter=2020%5Cu002d01-01T00:00:00.000%2B0000', { dueAfter: '2020-01-01T00:00:00.000+0000' }],
  ['created=2020-01-01T00:00:00.000UTC', { createdOn: '2020-01-01T00:00:00.000UTC' }],
  [
    'taskIdIn=a,,b,,&tenantIdIn=&assigneeIn=,',
    { taskIdIn: ['a', '', 'b'], tenantIdIn: [''], assigneeIn: [] },
  ],
  ['candidateGroups=+', { candidateGroups: [] }],
  ['taskVariables=,', { taskVariables: [] }],
  ['taskVariables=a_eq_b', { taskVariables: [{ name: 'a', operator: 'eq', value: 'b' }] }],
  ['taskVariables=a_eq_', null],
  ['firstResult=2&name=a', { name: 'a' }],
  ['sortBy=name&sortOrder=asc', { sortBy: 'name', sortOrder: 'asc' }],
  // In Camunda 7.24.
  ['taskDefinitionKeyNotIn=a,b&name=c', { name: 'c', taskDefinitionKeyNotIn: ['a', 'b'] }],
  ['withTaskVariablesInReturn=true', { withTaskVariablesInReturn: true }],
  ['withTaskLocalVariablesInReturn=false', { withTaskLocalVariablesInReturn: false }],
] as const

t.test('a task query in the URL is converted to an equivalent body', async (t) => {
  for (const [query, body] of BODIES)
    t.same(
      JSON.parse(String(taskQueryOf(queryOf(`/task?${query}`)))),
      body ?? { sorting: 'unreadable' },
      query,
    )
})

t.test('a query with an unknown parameter is not converted to a body', async (t) => {
  for (const query of ['x=1', 'sorting=name', 'likePatternIgnoreCase=true', 'withTaskVariablesInReturn=1'])
    t.equal(taskQueryOf(queryOf(`/task?name=a&${query}`)), null, query)
})
