import t from 'tap'
import { bodyTexts } from '../../../src/request/body.ts'
import { isRecord } from '../../../src/request/value.ts'
import { type Answer, BASE, openGateway } from '../../support/open-gateway.ts'

/** Executions that wait for the message `paid`, with the value of their variable `order_id`. */
const WAITING = [
  { id: 'e1', processInstanceId: 'p1', tenantId: null, value: 4711 },
  { id: 'e2', processInstanceId: 'p2', tenantId: null, value: '' },
]
const START = { executionId: null, activityId: 'start', eventName: 'both', tenantId: null }
const MODEL =
  '<definitions><message id="m" name="both"/><process id="mail"><startEvent id="start">' +
  '<messageEventDefinition messageRef="m"/></startEvent></process></definitions>'

const { ask } = await openGateway(t, {
  records: [
    'grant anna PROCESS_DEFINITION:order UPDATE_INSTANCE',
    'grant anna PROCESS_DEFINITION:offer UPDATE_INSTANCE',
    'grant ben PROCESS_INSTANCE:p1 UPDATE',
  ],
  engine({ url, body }, response) {
    const { pathname, searchParams } = new URL(url.slice(BASE.length), 'http://engine')
    const asked: unknown = body.length === 0 ? {} : JSON.parse(String(body))
    const answers: Readonly<Record<string, unknown>> = {
      '/execution': executionsFor(asked),
      '/event-subscription': searchParams.get('eventName') === 'both' ? [START] : [],
      '/process-definition': [{ id: 'mail:1', key: 'mail', tenantId: null }],
      '/process-definition/mail%3A1/xml': { id: 'mail:1', bpmn20Xml: MODEL },
      '/process-definition/order%3A1': { id: 'order:1', key: 'order', tenantId: null },
      '/process-definition/offer%3A1': { id: 'offer:1', key: 'offer', tenantId: null },
      '/process-instance': bodyTexts(asked, 'processInstanceIds').map(instanceOf),
      '/process-instance/p1': instanceOf('p1'),
      '/process-instance/p2': instanceOf('p2'),
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answers[pathname] ?? []))
  },
})

function instanceOf(id: string): object {
  return { id, definitionId: id === 'p1' ? 'order:1' : 'offer:1', tenantId: null }
}

/** Returns the executions whose variable has every value that the query names. */
function executionsFor(query: unknown): readonly object[] {
  const conditions = isRecord(query) ? query['processVariables'] : null
  const values = Array.isArray(conditions) ? conditions.map(({ value }) => value) : []
  return WAITING.filter(({ value }) => values.every((one) => one === value))
}

const correlate = (user: string, key: object, members: object = {}) =>
  ask(user, 'POST /message', {
    body: { messageName: 'paid', correlationKeys: { order_id: key }, ...members },
  })

function sentOf({ forwarded }: Answer): number {
  return forwarded.filter(({ url }) => url === `${BASE}/message`).length
}

const KINDS = [
  { value: 4711 },
  { value: 4711, type: 'Integer' },
  { value: 4711, type: 'Long' },
  { value: 4711, type: 'Double' },
  { value: '4711', type: 'Integer' },
  { value: '' },
  { value: ' ' },
  { value: 'null' },
  { value: '2026-01-31T12:00:00.000+0000' },
  { value: null, type: 'String' },
]

for (const key of KINDS) {
  const what = JSON.stringify(key)
  t.test(`a message with the key ${what} is forwarded if all its candidates are permitted`, async (t) => {
    const answer = await correlate('anna', key)
    t.same([answer.status, sentOf(answer)], [200, 1])
  })

  t.test(`a message with the key ${what} is refused if no candidate is permitted`, async (t) => {
    const answer = await correlate('nobody', key)
    t.match(answer, { status: 403, headers: { 'x-gateway-error': 'GW_CHECK_NOT_EXACT' } })
    t.equal(sentOf(answer), 0)
  })
}

t.test('a number narrows the candidates to the executions that have it', async (t) => {
  const answer = await correlate('ben', { value: 4711 })
  t.same([answer.status, sentOf(answer)], [200, 1])
})

t.test('a key that no query can express does not narrow the candidates', async (t) => {
  const answer = await correlate('ben', { value: '4711', type: 'Integer' })
  t.match(answer, { status: 403, headers: { 'x-gateway-error': 'GW_CHECK_NOT_EXACT' } })
  t.equal(sentOf(answer), 0)
})

t.test(
  'a message with keys that a query expresses exactly is refused as the engine refuses it',
  async (t) => {
    const answer = await correlate('nobody', { value: null }, { correlationKeys: {} })
    t.match(answer, { status: 403, body: { type: 'AuthorizationException', userId: 'nobody' } })
    t.equal(sentOf(answer), 0)
  },
)

t.test('a message that may start a definition instead needs permission for both', async (t) => {
  const members = { messageName: 'both' }
  const answer = await correlate('anna', { value: 4711 }, members)
  t.match(answer, { status: 403, headers: { 'x-gateway-error': 'GW_CHECK_NOT_EXACT' } })
  t.equal(sentOf(answer), 0)
  const exact = await correlate('anna', { value: 4711 }, { ...members, correlationKeys: {} })
  t.same([exact.status, sentOf(exact)], [200, 1])
})

t.test('a message that no execution can match is decided by the definition that it starts', async (t) => {
  t.match(await correlate('anna', { value: 5 }, { messageName: 'both' }), {
    status: 403,
    body: { type: 'AuthorizationException', permissionName: 'CREATE', resourceName: 'ProcessInstance' },
  })
})
