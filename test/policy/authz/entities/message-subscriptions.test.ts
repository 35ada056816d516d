import t from 'tap'
import type { Attributes } from '../../../../src/request/attributes.ts'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'
import { createDateFormat } from '../../../../src/request/date-format.ts'
import { createFindTargets } from '../../../../src/policy/authz/entities/targets.ts'

const NO_BYTES = { readBytes: async () => null, onUnreadable: () => undefined }

const MODEL =
  '<definitions><message id="m" name="go"/><process id="mail"><startEvent id="start">' +
  '<messageEventDefinition messageRef="m"/></startEvent></process></definitions>'
const WAITING = { id: 'e1', processInstanceId: 'p1', tenantId: null }

interface World {
  readonly executions?: readonly object[]
  readonly starts?: readonly object[]
}

/** Opens an engine with executions that wait for a message and a definition that the message starts. */
function findIn({ executions = [WAITING], starts = [START] }: World = {}) {
  const seen: string[] = []
  const queries: unknown[] = []
  const read = async (path: string, query?: unknown): Promise<unknown> => {
    const { pathname } = new URL(path, 'http://engine')
    seen.push(path)
    if (pathname === '/execution') {
      queries.push(JSON.parse(JSON.stringify(query)))
      return executions
    }
    if (pathname === '/event-subscription') return starts
    if (pathname === '/process-definition') return [{ id: 'mail:1', key: 'mail', tenantId: null }]
    if (pathname.endsWith('/xml')) return { id: 'mail:1', bpmn20Xml: MODEL }
    if (pathname === '/process-instance/p1') return { id: 'p1', definitionId: 'review:1', tenantId: null }
    return pathname === '/process-definition/review%3A1'
      ? { id: 'review:1', key: 'review', tenantId: null }
      : null
  }
  const find = createFindTargets({
    read,
    ...NO_BYTES,
    dateFormat: createDateFormat(),
    ...createLookUps({ read }),
  })
  const principal = { userId: 'anna', groups: [], tenants: [] }
  const ask = async (each: 'correlatedExecutions' | 'correlatedDefinitions', body: unknown) => {
    const found = await find(each, { principal, params: {}, query: new Map(), body })
    if (found === null) return null
    return 'candidates' in found ? { candidates: keysOf(found.candidates) } : keysOf(found)
  }
  const askAll = async (
    sets: readonly ('correlatedExecutions' | 'correlatedDefinitions')[],
    body: unknown,
  ): Promise<unknown> => {
    const accessRequest = { principal, params: {}, query: new Map(), body }
    const found = await Promise.all(sets.map((each) => find(each, accessRequest)))
    return found.map((one) => (one === null || 'candidates' in one ? one : keysOf(one)))
  }
  return { ask, askAll, seen, queries }
}

function keysOf(found: readonly Attributes[]) {
  return found.map(({ processDefinitionKey }) => processDefinitionKey)
}

const START = { executionId: null, activityId: 'start', eventName: 'go', tenantId: null }

t.test('a message goes to executions, and starts a definition only if no execution waits', async (t) => {
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

t.test('if the started definition is unknown, the executions are unknown too', async (t) => {
  const { ask } = findIn({ executions: [], starts: [{ ...START, activityId: 'other' }] })
  for (const each of ['correlatedExecutions', 'correlatedDefinitions'] as const)
    t.equal(await ask(each, { messageName: 'go' }), null, each)
})

t.test('definitions that a message starts are looked up by the message and the tenant', async (t) => {
  const { ask, seen } = findIn({ executions: [] })
  await ask('correlatedDefinitions', { messageName: 'a b', tenantId: 'acme' })
  t.ok(seen.includes('/event-subscription?eventType=message&eventName=a+b&tenantIdIn=acme'))
})

const QUERY = {
  messageEventSubscriptionName: 'go',
  active: true,
  businessKey: null,
  processInstanceId: null,
  tenantIdIn: null,
  processVariables: [],
  variables: [],
}

for (const [body, query] of [
  [{}, {}],
  [
    { businessKey: 'k', processInstanceId: 'p' },
    { businessKey: 'k', processInstanceId: 'p' },
  ],
  [{ businessKey: '' }, { businessKey: '' }],
  [{ tenantId: 'a,b' }, { tenantIdIn: ['a,b'] }],
  [{ withoutTenantId: true }, {}],
  [{ correlationKeys: {}, localCorrelationKeys: null }, {}],
  [
    { correlationKeys: { a_b: { value: 'x,y' } }, localCorrelationKeys: { c: { value: 5, type: 'Long' } } },
    {
      processVariables: [{ name: 'a_b', operator: 'eq', value: 'x,y' }],
      variables: [{ name: 'c', operator: 'eq', value: 5 }],
    },
  ],
] as const)
  t.test(`executions are looked up as the engine correlates ${JSON.stringify(body)}`, async (t) => {
    const { ask, queries } = findIn({ executions: [], starts: [] })
    await ask('correlatedExecutions', { messageName: 'go', ...body })
    t.same(queries, [{ ...QUERY, ...query }])
  })

t.test('if a query cannot express the keys, executions and definitions are candidates', async (t) => {
  const body = { messageName: 'go', correlationKeys: { a: { value: 5, type: 'Integer' } } }
  const local = { messageName: 'go', localCorrelationKeys: { a: { value: '' } } }
  for (const message of [body, local]) {
    const { ask } = findIn()
    t.same(await ask('correlatedExecutions', message), { candidates: ['review'] })
    t.same(await ask('correlatedDefinitions', message), { candidates: ['mail'] })
  }
})

t.test('if a query cannot express the keys, a message for all starts each definition', async (t) => {
  const body = { messageName: 'go', correlationKeys: { a: { value: 5 } }, all: true }
  const { ask } = findIn()
  t.same(await ask('correlatedExecutions', body), { candidates: ['review'] })
  t.same(await ask('correlatedDefinitions', body), ['mail'])
})

t.test(
  'if no execution is a candidate, a message is decided by the definitions that it starts',
  async (t) => {
    const body = { messageName: 'go', correlationKeys: { a: { value: 5 } } }
    const { ask } = findIn({ executions: [] })
    t.same(await ask('correlatedExecutions', body), [])
    t.same(await ask('correlatedDefinitions', body), ['mail'])
  },
)

t.test('a message without a tenant does not reach executions of tenants', async (t) => {
  const executions = [{ ...WAITING, tenantId: 'acme' }]
  for (const [members, found, started] of [
    [{}, ['review'], []],
    [{ tenantId: 'acme' }, ['review'], []],
    [{ withoutTenantId: true }, [], ['mail']],
    [{ tenantId: 'acme', withoutTenantId: true }, ['review'], []],
  ] as const) {
    const { ask } = findIn({ executions })
    const body = { messageName: 'go', ...members }
    t.same(await ask('correlatedExecutions', body), found, JSON.stringify(members))
    t.same(await ask('correlatedDefinitions', body), started, JSON.stringify(members))
  }
})

t.test('the definition that a message starts is unknown if its tenant contains a comma', async (t) => {
  const { ask } = findIn({ executions: [] })
  t.equal(await ask('correlatedDefinitions', { messageName: 'go', tenantId: 'a,b' }), null)
})

t.test('without a message name nothing is looked up', async (t) => {
  for (const messageName of [undefined, null]) {
    const { ask, seen } = findIn()
    t.equal(await ask('correlatedExecutions', { messageName }), null)
    t.same(seen, [])
  }
})

t.test('an empty message name is looked up as any other', async (t) => {
  const { ask, queries, seen } = findIn({ executions: [], starts: [] })
  const body = { messageName: '' }
  t.same(await ask('correlatedExecutions', body), [])
  t.same(await ask('correlatedDefinitions', body), [])
  t.match(queries, [{ ...QUERY, messageEventSubscriptionName: '' }])
  t.ok(seen.includes('/event-subscription?eventType=message&eventName='))
  t.same(await findIn().ask('correlatedExecutions', body), ['review'], 'an execution may wait for it')
})

t.test('all checks of one request share one search', async (t) => {
  const { askAll, seen } = findIn({ executions: [] })
  const sets = ['correlatedExecutions', 'correlatedDefinitions', 'correlatedDefinitions'] as const
  t.same(await askAll(sets, { messageName: 'go' }), [[], ['mail'], ['mail']])
  const searches = seen.filter((path) => /^\/(execution|event-subscription)/.test(path))
  t.same(searches, ['/execution', '/event-subscription?eventType=message&eventName=go'])
})

t.test('another decision about the same request searches again', async (t) => {
  const { ask, seen } = findIn()
  const body = { messageName: 'go' }
  await ask('correlatedExecutions', body)
  await ask('correlatedExecutions', body)
  t.equal(seen.filter((path) => path === '/execution').length, 2)
})
