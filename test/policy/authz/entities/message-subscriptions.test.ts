import t from 'tap'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'
import { createFindTargets } from '../../../../src/policy/authz/entities/targets.ts'

const MODEL =
  '<definitions><message id="m" name="go"/><process id="mail"><startEvent id="start">' +
  '<messageEventDefinition messageRef="m"/></startEvent></process></definitions>'
const WAITING = { id: 'e1', processInstanceId: 'p1', tenantId: null }

interface World {
  readonly executions?: readonly object[]
  readonly starts?: readonly object[]
}

/** An engine with executions that wait for a message, and a definition that it starts. */
function findIn({ executions = [WAITING], starts = [START] }: World = {}) {
  const seen: string[] = []
  const read = async (path: string): Promise<unknown> => {
    const { pathname } = new URL(path, 'http://engine')
    seen.push(path)
    if (pathname === '/execution') return executions
    if (pathname === '/event-subscription') return starts
    if (pathname === '/process-definition') return [{ id: 'mail:1', key: 'mail', tenantId: null }]
    if (pathname.endsWith('/xml')) return { id: 'mail:1', bpmn20Xml: MODEL }
    if (pathname === '/process-instance/p1') return { id: 'p1', definitionId: 'review:1', tenantId: null }
    return pathname === '/process-definition/review%3A1'
      ? { id: 'review:1', key: 'review', tenantId: null }
      : null
  }
  const find = createFindTargets({ read, ...createLookUps({ read }) })
  const principal = { userId: 'anna', groups: [], tenants: [] }
  const ask = async (each: 'correlatedExecutions' | 'correlatedDefinitions', body: unknown) => {
    const found = await find(each, { principal, params: {}, query: new Map(), body })
    return found?.map(({ processDefinitionKey }) => processDefinitionKey) ?? null
  }
  return { ask, seen }
}

const START = { executionId: null, activityId: 'start', eventName: 'go', tenantId: null }

/** The query by which executions are sought; null: they are not. */
async function queryOf(body: object): Promise<string | null> {
  const { ask, seen } = findIn({ executions: [], starts: [] })
  const found = await ask('correlatedExecutions', { messageName: 'go', ...body })
  if (found === null) t.same(seen, [], 'nothing is asked where it cannot be told')
  return seen[0] === undefined ? null : decodeURIComponent(seen[0].replace(/^.*active=true&?/, ''))
}

t.test('a message goes to executions, and starts a definition only where there is none', async (t) => {
  const [one, none] = [findIn(), findIn({ executions: [] })]
  const body = { messageName: 'go' }
  t.same(await one.ask('correlatedExecutions', body), ['review'])
  t.same(await one.ask('correlatedDefinitions', body), [])
  t.same(await none.ask('correlatedExecutions', body), [])
  t.same(await none.ask('correlatedDefinitions', body), ['mail'])
  t.same(
    await one.ask('correlatedDefinitions', { ...body, all: true }),
    ['mail'],
    'both where all are wanted',
  )
  t.same(await one.ask('correlatedExecutions', { ...body, all: true }), ['review'])
})

t.test('where a definition cannot be told nothing is said of executions either', async (t) => {
  const { ask } = findIn({ executions: [], starts: [{ ...START, activityId: 'other' }] })
  for (const each of ['correlatedExecutions', 'correlatedDefinitions'] as const)
    t.equal(await ask(each, { messageName: 'go' }), null, each)
})

t.test('definitions that are started are sought by the message and the tenant', async (t) => {
  const { ask, seen } = findIn({ executions: [] })
  await ask('correlatedDefinitions', { messageName: 'a b', tenantId: 'acme' })
  t.ok(seen.includes('/event-subscription?eventType=message&eventName=a+b&tenantIdIn=acme'))
})

function text(value: string, type?: unknown) {
  return { value, type }
}

t.test('executions are sought as the engine correlates', async (t) => {
  const cases: readonly (readonly [body: object, query: string | null])[] = [
    [{}, ''],
    [{ businessKey: 'k', processInstanceId: 'p' }, 'businessKey=k&processInstanceId=p'],
    [{ tenantId: 'acme' }, 'tenantIdIn=acme'],
    [{ withoutTenantId: true }, 'withoutTenantId=true'],
    [{ tenantId: 'a,b' }, null],
    [{ correlationKeys: { a: text('x'), b: text('y', 'String') } }, 'processVariables=a_eq_x,b_eq_y'],
    [{ localCorrelationKeys: { a: text('x', 'string') } }, 'variables=a_eq_x'],
    [{ localCorrelationKeys: { a: text('x', null) } }, 'variables=a_eq_x'],
    [{ correlationKeys: {}, localCorrelationKeys: null }, ''],
    [{ correlationKeys: { a: text('5', 'Integer') } }, null],
    [{ correlationKeys: { a: text('5', 'Strings') } }, null],
    [{ correlationKeys: { a: { value: 5 } } }, null],
    [{ correlationKeys: { a: null } }, null],
    [{ localCorrelationKeys: { a: text('x'), b: { value: true } } }, null],
    ...['a_b', 'a,b', '', ' ', 'null', ' NULL ', '"x"', '\\', '2026-11-22T20:00:00', 'x-y-zT1:2:3'].map(
      (value) => [{ correlationKeys: { a: text(value) } }, null] as const,
    ),
    [{ correlationKeys: { a_b: text('x') } }, null],
    ...['nulls', '2026-11-22', 'a:b', 'T'].map(
      (value) => [{ correlationKeys: { a: text(value) } }, `processVariables=a_eq_${value}`] as const,
    ),
  ]
  for (const [body, query] of cases) t.equal(await queryOf(body), query, JSON.stringify(body))
})

t.test('without the name of a message nothing is sought', async (t) => {
  for (const messageName of [undefined, null, '']) {
    const { ask, seen } = findIn()
    t.equal(await ask('correlatedExecutions', { messageName }), null)
    t.same(seen, [])
  }
})
