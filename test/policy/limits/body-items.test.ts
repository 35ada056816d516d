import t from 'tap'
import { checkBodyItems, checkQueryItems, type ItemLimits } from '../../../src/policy/limits/body-items.ts'

const LIMITS: ItemLimits = { topics: 2, correlationKeys: 2, conditions: 2, orQueries: 2, sorting: 2, ids: 2 }

/** Returns the key of the limit that a body exceeds, or null. */
function exceededBy(body: unknown): string | null {
  try {
    checkBodyItems(body, LIMITS)
    return null
  } catch (error) {
    const { code, statusCode, message } = Object(error)
    t.same([code, statusCode], ['GW_INVALID_BODY', 400])
    return /\(limits\.items\.(\w+)\)$/.exec(message)?.[1] ?? message
  }
}

const some = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, 'x']))

const LISTS: Readonly<Record<string, readonly [kind: string, of: (count: number) => object]>> = {
  'the topics of a fetch': ['topics', (count) => ({ topics: some(count, {}) })],
  'or-queries': ['orQueries', (count) => ({ orQueries: some(count, {}) })],
  'correlation keys': ['correlationKeys', (count) => ({ correlationKeys: members(count) })],
  'local correlation keys': ['correlationKeys', (count) => ({ localCorrelationKeys: members(count) })],
  'conditions on variables': ['conditions', (count) => ({ processVariables: some(count, {}) })],
  'conditions that are null': ['conditions', (count) => ({ variables: some(count, null) })],
  'conditions of a topic': ['conditions', (count) => ({ topics: [{ processVariables: members(count) }] })],
  'conditions on times': ['conditions', (count) => ({ dueDates: some(count, {}) })],
  'sort criteria': ['sorting', (count) => ({ sorting: some(count, {}) })],
  ids: ['ids', (count) => ({ taskIdIn: some(count, 'x') })],
  'ids that are numbers': ['ids', (count) => ({ processInstanceIds: some(count, 5) })],
  'names of variables of a topic': ['ids', (count) => ({ topics: [{ variables: some(count, 'x') }] })],
  'a body that is a list of ids': ['ids', (count) => some(count, 'x')],
  'ids in a query that selects': [
    'ids',
    (count) => ({ processInstanceQuery: { processInstanceIds: some(count, 'x') } }),
  ],
  'conditions in the query of a filter': [
    'conditions',
    (count) => ({ query: { orQueries: [{ taskVariables: some(count, {}) }] } }),
  ],
}

for (const [name, [kind, of]] of Object.entries(LISTS))
  t.test(`${name}: one more than the limit is refused with the name of the limit`, (t) => {
    t.equal(exceededBy(of(2)), null)
    t.equal(exceededBy(of(3)), kind)
    t.end()
  })

t.test('all lists of one kind in a body are counted together', (t) => {
  const block = { processVariables: [{}], taskVariables: [{}] }
  t.equal(exceededBy({ orQueries: [block] }), null)
  t.equal(exceededBy({ orQueries: [block, block] }), 'conditions')
  t.equal(exceededBy({ taskVariables: [{}], orQueries: [block] }), 'conditions')
  t.equal(exceededBy({ candidateGroups: ['a', 'b'], taskIdIn: ['c'] }), 'ids')
  t.equal(exceededBy({ correlationKeys: members(2), localCorrelationKeys: members(1) }), 'correlationKeys')
  t.end()
})

t.test('values of variables and instructions have no limit', (t) => {
  for (const body of [
    { variables: members(9) },
    { messageName: 'm', processVariables: members(9) },
    { variables: { a: { value: some(9, 'x'), type: 'Object' } } },
    { variables: { a: { value: { topics: some(9, {}) } } } },
    { instructions: some(9, {}) },
    undefined,
    null,
    'text',
    some(9, {}),
  ])
    t.equal(exceededBy(body), null)
  t.end()
})

const search =
  (...entries: readonly [string, string][]) =>
  () =>
    checkQueryItems(new Map(entries), LIMITS)

t.test('the conditions in a query string are counted together', (t) => {
  const refusal = { code: 'GW_INVALID_QUERY', statusCode: 400, message: /limits\.items\.conditions/ }
  t.doesNotThrow(search())
  t.doesNotThrow(search(['taskVariables', 'a_eq_1,b_eq_2'], ['name', 'a,b,c,d']))
  t.throws(search(['taskVariables', 'a_eq_1,b_eq_2,c_eq_3']), refusal)
  t.throws(search(['taskVariables', 'a_eq_1,b_eq_2'], ['processVariables', 'c_eq_3']), refusal)
  t.end()
})
