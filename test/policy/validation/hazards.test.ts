import t from 'tap'
import { HAZARD_RULES, type HazardRule } from '../../../src/operations/hazard-rules.ts'
import { checkHazards, checkStoredExpressions } from '../../../src/policy/validation/hazards.ts'

type Row = Parameters<typeof checkHazards>[0]
const query: Row = { id: 'q', method: 'GET', expressions: 'checked' }
const other: Row = { id: 'o', method: 'POST' }

function check(
  row: Row,
  {
    body,
    search = '',
    opened = [],
    texts = [],
  }: { body?: unknown; search?: string; opened?: HazardRule[]; texts?: string[] },
) {
  const accepted = { allowedHazards: new Set(opened), allowedExpressions: new Set(texts) }
  checkHazards(row, { query: new Map(new URLSearchParams(search)), body }, accepted)
}

const refusedBy = (rule: HazardRule, place: string) => ({
  code: 'GW_HAZARD',
  body: { message: `Refused by the rule '${rule}': ${place}` },
})
const java = { serializationDataFormat: 'application/x-java-serialized-object' }
const named = { objectTypeName: 'java.net.URL' }

t.test('expressions are refused at any depth of a task query', async (t) => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ assigneeExpression: '${1}' }, '$.assigneeExpression'],
    [{ dueAfterExpression: '' }, '$.dueAfterExpression'],
    [{ orQueries: [{}, { candidateGroupsExpression: 'x' }] }, '$.orQueries[1].candidateGroupsExpression'],
    [
      { orQueries: [{ orQueries: [{ ownerExpression: 'x' }] }] },
      '$.orQueries[0].orQueries[0].ownerExpression',
    ],
    [
      { query: { orQueries: [{ ownerExpression: 'x' }] }, properties: {} },
      '$.query.orQueries[0].ownerExpression',
    ],
  ]
  for (const [body, place] of cases) {
    t.throws(() => check(query, { body }), refusedBy('expressions', place), place)
    t.doesNotThrow(() => check(query, { body, opened: ['expressions'] }), `${place}, opened`)
    t.doesNotThrow(() => check(other, { body }), `${place}, in a row without task queries`)
  }
  t.throws(
    () => check(query, { search: 'ownerExpression=x' }),
    refusedBy('expressions', 'query parameter ownerExpression'),
  )
})

function queriesWith(text: string): readonly unknown[] {
  return [
    { assigneeExpression: text },
    { orQueries: [{ assigneeExpression: text }] },
    { query: { orQueries: [{ assigneeExpression: text }] } },
  ]
}

function stored(text: string): unknown {
  return { orQueries: [{ ownerExpression: text }] }
}

t.test(
  'known expressions are accepted at any depth, and other texts if the configuration contains them',
  async (t) => {
    const own = '${myBean.mine()}'
    for (const body of queriesWith('${currentUser()}')) t.doesNotThrow(() => check(query, { body }))
    for (const body of queriesWith(own)) {
      t.throws(() => check(query, { body }), { code: 'GW_HAZARD' })
      t.doesNotThrow(() => check(query, { body, texts: [own] }))
      t.throws(() => check(query, { body, texts: [`${own} `] }), { code: 'GW_HAZARD' }, 'with other spaces')
    }
    t.doesNotThrow(() => check(query, { search: 'dueAfterExpression=%23%7Bnow()%7D' }))
    t.throws(() => check(query, { search: 'dueAfterExpression=%23%7Bnow()%7Dx' }), { code: 'GW_HAZARD' })
  },
)

t.test('the expressions of a stored query are checked in the same way', async (t) => {
  const accepted = { allowedHazards: new Set<HazardRule>(), allowedExpressions: new Set(['${mine()}']) }
  t.doesNotThrow(() => checkStoredExpressions(stored('${currentUser()}'), accepted))
  t.doesNotThrow(() => checkStoredExpressions(stored('${mine()}'), accepted))
  t.doesNotThrow(() => checkStoredExpressions(null, accepted))
  t.throws(
    () => checkStoredExpressions(stored('${x}'), accepted),
    refusedBy('expressions', '$.query.orQueries[0].ownerExpression'),
  )
  const all = { ...accepted, allowedHazards: new Set<HazardRule>(['expressions']) }
  t.doesNotThrow(() => checkStoredExpressions(stored('${x}'), all))
})

t.test('data that only looks like an expression is accepted', async (t) => {
  const bodies = [
    { assigneeExpression: null },
    { variables: { myExpression: { value: 1, type: 'Integer' } } },
    { processVariables: [{ name: 'a', operator: 'eq', value: { someExpression: 1 } }] },
    { query: {}, properties: { colourExpression: 'x' } },
    { name: 'assigneeExpression' },
  ]
  for (const body of bodies) t.doesNotThrow(() => check(query, { body }), JSON.stringify(body))
  t.doesNotThrow(() => check(query, { search: 'name=ownerExpression&Expressions=1' }))
})

t.test('typed variables that name Java types are refused anywhere in a body', async (t) => {
  const bodies: readonly (readonly [(info: object) => unknown, string])[] = [
    [(valueInfo) => ({ type: 'Object', value: 'x', valueInfo }), '$'],
    [(valueInfo) => ({ variables: { a: { value: 'x', valueInfo } } }), '$.variables.a'],
    [(valueInfo) => ({ variables: { value: { value: 'x', valueInfo } } }), '$.variables.value'],
    [(valueInfo) => ({ modifications: { valueInfo: { valueInfo } } }), '$.modifications.valueInfo'],
    [(valueInfo) => ({ migrationPlan: { variables: { a: { valueInfo } } } }), '$.migrationPlan.variables.a'],
    [
      (valueInfo) => ({ startInstructions: [{ variables: { a: { valueInfo } } }] }),
      '$.startInstructions[0].variables.a',
    ],
    [(valueInfo) => ({ correlationKeys: { properties: { valueInfo } } }), '$.correlationKeys.properties'],
  ]
  for (const [body, place] of bodies) {
    t.throws(
      () => check(other, { body: body(java) }),
      refusedBy('java-serialized', `${place}.valueInfo.serializationDataFormat`),
    )
    t.throws(
      () => check(other, { body: body(named) }),
      refusedBy('object-type-name', `${place}.valueInfo.objectTypeName`),
    )
    t.doesNotThrow(() =>
      check(other, { body: body({ ...java, ...named }), opened: ['java-serialized', 'object-type-name'] }),
    )
  }
})

t.test('each member that contains variables is checked, whatever the names of the variables', async (t) => {
  const maps = [
    'correlationKeys',
    'localCorrelationKeys',
    'localVariables',
    'modifications',
    'processVariables',
    'processVariablesLocal',
    'processVariablesToTriggeredScope',
    'variables',
  ]
  for (const map of maps)
    for (const name of ['value', 'properties', 'valueInfo'])
      t.throws(
        () => check(other, { body: { [map]: { [name]: { valueInfo: named } } } }),
        refusedBy('object-type-name', `$.${map}.${name}.valueInfo.objectTypeName`),
      )
})

t.test('the Java serialization format is refused in any spelling', async (t) => {
  for (const serializationDataFormat of ['APPLICATION/X-JAVA-SERIALIZED-OBJECT', 'x-Java-Serialized'])
    t.throws(() => check(other, { body: { valueInfo: { serializationDataFormat } } }), { code: 'GW_HAZARD' })
})

t.test('data that only looks like a typed variable is accepted', async (t) => {
  const bodies = [
    {
      variables: {
        a: { value: { valueInfo: named }, valueInfo: { serializationDataFormat: 'application/json' } },
      },
    },
    { value: { valueInfo: java } },
    { taskVariables: [{ name: 'a', operator: 'eq', value: { valueInfo: named } }] },
    { variables: { a: { value: 1, valueInfo: { objectTypeName: null } } } },
    { variables: { a: null } },
    'text',
    null,
  ]
  for (const body of bodies) t.doesNotThrow(() => check(other, { body }), JSON.stringify(body))
})

t.test('the path in the message has a bounded length', async (t) => {
  const body = { ['x'.repeat(10_000)]: { valueInfo: named } }
  t.throws(() => check(other, { body }), { code: 'GW_HAZARD', body: { message: /^.{1,260}$/ } })
})

t.test('each hazard rule has a unique name', async (t) => {
  t.equal(new Set(HAZARD_RULES).size, HAZARD_RULES.length)
})
