import t from 'tap'
import { createLookUps } from '../../../../src/policy/authz/entities/lookup.ts'
import { createDateFormat } from '../../../../src/request/date-format.ts'
import { createFindTargets } from '../../../../src/policy/authz/entities/targets.ts'

const NO_BYTES = { readBytes: async () => null, onUnreadable: () => undefined }

const MODEL =
  '<definitions><signal id="s" name="go"/><process id="mail"><startEvent id="start">' +
  '<signalEventDefinition signalRef="s"/></startEvent></process></definitions>'
const WAITING = { executionId: 'e1', processInstanceId: 'p1', activityId: 'wait', tenantId: null }
const START = { executionId: null, activityId: 'start', eventName: 'go', tenantId: null }

/** Returns the targets of a signal in an engine in which one execution waits for it and one definition is started by it. */
async function find(each: 'signalSubscriptions' | 'signalStarts', body: object) {
  const seen: string[] = []
  const answers: Readonly<Record<string, unknown>> = {
    '/event-subscription': [WAITING, START],
    '/process-definition': [{ id: 'mail:1', key: 'mail', tenantId: null }],
    '/process-definition/mail%3A1/xml': { id: 'mail:1', bpmn20Xml: MODEL },
    '/process-instance/p1': { id: 'p1', definitionId: 'review:1', tenantId: null },
    '/process-definition/review%3A1': { id: 'review:1', key: 'review', tenantId: null },
  }
  const read = async (path: string): Promise<unknown> => {
    seen.push(path)
    return answers[new URL(path, 'http://engine').pathname] ?? null
  }
  const principal = { userId: 'anna', groups: [], tenants: [] }
  const request = { principal, params: {}, query: new Map(), body }
  const findTargets = createFindTargets({
    read,
    ...NO_BYTES,
    dateFormat: createDateFormat(),
    ...createLookUps({ read }),
  })
  const found = await findTargets(each, request)
  if (found !== null && 'candidates' in found) throw new Error('These are candidates')
  return { keys: found?.map(({ processDefinitionKey }) => processDefinitionKey) ?? null, seen }
}

t.test('a signal reaches waiting executions and the definitions that it starts', async (t) => {
  t.same((await find('signalSubscriptions', { name: 'go' })).keys, ['review'])
  t.same((await find('signalStarts', { name: 'go' })).keys, ['mail'])
})

t.test('the targets of a signal are looked up by its name, tenant and execution', async (t) => {
  for (const [body, query] of [
    [{ name: 'go' }, { eventName: 'go' }],
    [{}, { eventName: '' }],
    [
      { name: 'go', executionId: 'e1' },
      { eventName: 'go', executionId: 'e1' },
    ],
    [
      { name: 'go', tenantId: 'acme' },
      { eventName: 'go', tenantIdIn: 'acme' },
    ],
    [
      { name: 'go', withoutTenantId: true },
      { eventName: 'go', withoutTenantId: 'true' },
    ],
  ] as const)
    for (const each of ['signalSubscriptions', 'signalStarts'] as const) {
      const [first = ''] = (await find(each, body)).seen
      const { searchParams } = new URL(first, 'http://engine')
      t.same(Object.fromEntries(searchParams), { eventType: 'signal', ...query }, each)
    }
})

t.test('if a query would read the tenant as two, no lookup is sent and no target is known', async (t) => {
  for (const each of ['signalSubscriptions', 'signalStarts'] as const)
    t.same(await find(each, { name: 'go', tenantId: 'acme,globex' }), { keys: null, seen: [] })
})
