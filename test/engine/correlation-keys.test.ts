import { test } from 'tap'
import { type Admin, idOf, rowsOf } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import { javaSkip } from '../support/requirements.ts'
import { FAMILIES } from './build.ts'
import { type AskAs, startSecuredPair } from './secured-pair.ts'

interface Key {
  readonly value?: unknown
  readonly type?: string
}

/** A correlation key. If `isNarrow` is true, a query for executions selects only those whose variable has the value of the key. */
interface Kind {
  readonly name?: string
  readonly key: Key
  readonly isNarrow: boolean
}

const DATE = '2026-01-31T12:00:00.000+0000'

const KINDS: readonly Kind[] = [
  { key: { value: 'x' }, isNarrow: true },
  { key: { value: 'x', type: 'String' }, isNarrow: true },
  { name: 'order_id', key: { value: '4711' }, isNarrow: true },
  { name: 'order,id', key: { value: '4711' }, isNarrow: true },
  { key: { value: 'a_b' }, isNarrow: true },
  { key: { value: 'a,b' }, isNarrow: true },
  { key: { value: 'a"b' }, isNarrow: true },
  { key: { value: 'DOMAIN\\user' }, isNarrow: true },
  { key: { value: 'ends with \\' }, isNarrow: true },
  { key: { value: 'two\nlines' }, isNarrow: true },
  { key: { value: 'NULL' }, isNarrow: true },
  { key: { value: '2026-01-31T12:00:00' }, isNarrow: true },
  { key: { value: true }, isNarrow: true },
  { key: { value: false, type: 'Boolean' }, isNarrow: true },
  { key: { value: null }, isNarrow: true },
  { key: {}, isNarrow: true },
  { key: { value: DATE, type: 'Date' }, isNarrow: true },
  { name: 'order_id', key: { value: 4711 }, isNarrow: true },
  { key: { value: 4711, type: 'Integer' }, isNarrow: true },
  { key: { value: 4711, type: 'Long' }, isNarrow: true },
  { key: { value: 4711, type: 'Short' }, isNarrow: true },
  { key: { value: 4711, type: 'Double' }, isNarrow: true },
  { key: { value: 47.11 }, isNarrow: true },
  { key: { value: '' }, isNarrow: false },
  { key: { value: ' ' }, isNarrow: false },
  { key: { value: 'null' }, isNarrow: false },
  { key: { value: '"x' }, isNarrow: false },
  { key: { value: DATE }, isNarrow: false },
  { key: { value: '4711', type: 'Integer' }, isNarrow: false },
  { key: { value: 4711, type: 'String' }, isNarrow: false },
  { key: { value: 'true', type: 'Boolean' }, isNarrow: false },
  { key: { value: null, type: 'Integer' }, isNarrow: false },
]

const UPDATE = { resourceType: 6, permissions: ['UPDATE_INSTANCE'] }
const CALLERS = [
  { user: 'full', records: ['order', 'offer'].map((resourceId) => ({ ...UPDATE, resourceId })) },
  { user: 'part', records: [{ ...UPDATE, resourceId: 'order' }] },
  { user: 'none', records: [] },
  { user: 'member', tenants: ['acme'], records: [{ ...UPDATE, resourceId: 'order' }] },
]

void test('a message with correlation keys reaches no more than at a secured engine', {
  skip: javaSkip,
}, async (t) => {
  const { admin, open } = await startSecuredPair(t, 'camunda')
  await admin.call('POST', '/tenant/create', { id: 'acme', name: 'acme' })
  await deploy(admin, 'order', waiting('order'))
  await deploy(admin, 'offer', waiting('offer'))
  const { engine, gateway } = await open(CALLERS)
  const start = async (key: string, name: string, variable: Key) =>
    idOf(
      await admin.call('POST', `/process-definition/key/${key}/start`, { variables: { [name]: variable } }),
    )
  const isWaiting = async (id: string) => {
    const path = `/event-subscription?processInstanceId=${id}`
    return rowsOf(await admin.call('GET', path)).length === 1
  }
  const end = async (id: string) => admin.call('DELETE', `/process-instance/${id}`)

  for (const { name = 'key', key, isNarrow } of KINDS)
    await t.test(`the key ${name} ${JSON.stringify(key)} reaches permitted instances only`, async (t) => {
      const body = { messageName: 'go', correlationKeys: { [name]: key } }
      const other = await start('offer', name, { value: 'another value' })

      const correlated = async (ask: AskAs, user: string) => {
        const id = await start('order', name, key)
        const status = await statusOf(ask, user, body)
        const isReached = !(await isWaiting(id))
        if (!isReached) await end(id)
        return { status, isReached }
      }
      const [reached, refused] = [
        { status: 204, isReached: true },
        { status: 403, isReached: false },
      ]
      const notExact = { status: 'GW_CHECK_NOT_EXACT', isReached: false }
      for (const user of ['full', 'part']) t.same(await correlated(engine, user), reached, user)
      t.same(await correlated(gateway, 'full'), reached, 'all candidates are permitted')
      t.same(await correlated(gateway, 'part'), isNarrow ? reached : notExact, 'not all candidates are')
      t.same(await correlated(engine, 'none'), refused)
      t.match(await correlated(gateway, 'none'), { isReached: false })

      t.ok(await isWaiting(other))
      await end(other)
      const foreign = await start('offer', name, key)
      for (const user of ['part', 'none']) {
        t.equal(await statusOf(engine, user, body), 403)
        t.not(await statusOf(gateway, user, body), 204)
      }
      t.ok(await isWaiting(foreign), 'an instance without permission is not reached')
      await end(foreign)
    })

  await t.test('a number that matches variables of two number types is not decided exactly', async (t) => {
    const body = { messageName: 'go', correlationKeys: { key: { value: 4711 } } }
    const long = await start('offer', 'key', { value: 4711, type: 'Long' })
    t.equal(await statusOf(engine, 'none', body), 400, 'an Integer matches no variable of type Long')
    t.equal(await statusOf(gateway, 'none', body), 'GW_CHECK_NOT_EXACT')
    const integer = await start('order', 'key', { value: 4711 })
    t.equal(await statusOf(gateway, 'part', body), 'GW_CHECK_NOT_EXACT')
    t.equal(await statusOf(engine, 'part', body), 204)
    t.same([await isWaiting(long), await isWaiting(integer)], [true, false])
    await end(long)
  })

  await t.test('a message may start a definition if no execution matches', async (t) => {
    await deploy(admin, 'mail', STARTED)
    const of = '/process-instance?processDefinitionKey=mail'
    for (const [key, expected] of [
      [{ value: 'x' }, 204],
      [{ value: 4711 }, 'GW_CHECK_NOT_EXACT'],
    ] as const) {
      const body = { messageName: 'go', correlationKeys: { key } }
      const id = await start('order', 'key', key)
      t.equal(await statusOf(gateway, 'part', body), expected)
      t.equal(await isWaiting(id), expected !== 204)
      if (expected === 204) await start('order', 'key', key)
      t.equal(await statusOf(engine, 'part', body), 204)
    }
    const unmatched = { messageName: 'go', correlationKeys: { key: { value: 5 } } }
    for (const ask of [engine, gateway]) t.equal(await statusOf(ask, 'part', unmatched), 403)
    t.same(rowsOf(await admin.call('GET', of)), [], 'no instance is started')
  })

  await t.test('a message without a tenant does not reach an execution of a tenant', async (t) => {
    await deploy(admin, 'order', waiting('order'), 'acme')
    const id = idOf(await admin.call('POST', '/process-definition/key/order/tenant-id/acme/start', {}))
    const body = { messageName: 'go', withoutTenantId: true }
    for (const ask of [engine, gateway])
      t.equal(await statusOf(ask, 'member', body), 403, 'it starts a definition')
    t.ok(await isWaiting(id))
    const ofTenant = { messageName: 'go', tenantId: 'acme' }
    t.equal(await statusOf(gateway, 'member', ofTenant), 204)
    t.notOk(await isWaiting(id))
  })
})

for (const family of FAMILIES)
  void test(`a message with an empty name is a message like any other (${family})`, {
    skip: javaSkip,
  }, async (t) => {
    const { admin, open } = await startSecuredPair(t, family)
    for (const key of ['order', 'offer']) await deploy(admin, key, waiting(key, '${name}'))
    const { engine, gateway } = await open(CALLERS.filter(({ user }) => user !== 'member'))
    const start = async (key: string) =>
      idOf(
        await admin.call('POST', `/process-definition/key/${key}/start`, {
          variables: { name: { value: '' } },
          businessKey: key,
        }),
      )
    const both = async (user: string, body: object) => {
      const ask: Ask = { method: 'POST', path: '/message', body: { messageName: '', ...body } }
      const answers = [await engine(user, ask), await gateway(user, ask)]
      return answers.map(({ status, body: given }) => JSON.stringify({ status, given }))
    }
    for (const messageName of ['', ' '])
      for (const members of [
        {},
        { businessKey: 'x' },
        { all: true },
        { processInstanceId: 'x' },
        { tenantId: 'x' },
      ]) {
        const [expected, given] = await both('none', { messageName, ...members })
        t.equal(given, expected, JSON.stringify({ messageName, ...members }))
      }
    await start('offer')
    for (const members of [{}, { businessKey: 'offer' }, { all: true }])
      for (const user of ['part', 'none']) {
        const [expected, given] = await both(user, members)
        t.equal(given, expected, `${user} ${JSON.stringify(members)}`)
        t.match(given, /"status":403/)
      }
    const ask: Ask = { method: 'POST', path: '/message', body: { messageName: '', businessKey: 'order' } }
    for (const askAs of [engine, gateway]) {
      await start('order')
      t.equal((await askAs('part', ask)).status, 204)
    }
    t.equal(rowsOf(await admin.call('GET', '/event-subscription')).length, 1, 'only the other instance waits')
  })

/** The status of the response, or the error code of the gateway. */
async function statusOf(ask: AskAs, user: string, body: object): Promise<string | number> {
  const { status, code } = await ask(user, { method: 'POST', path: '/message', body })
  return code === '' ? status : code
}

async function deploy(admin: Admin, name: string, model: string, tenant?: string): Promise<void> {
  await admin.upload('/deployment/create', [
    { name: 'deployment-name', value: name },
    ...(tenant === undefined ? [] : [{ name: 'tenant-id', value: tenant }]),
    { name: 'model.bpmn', value: model, file: 'model.bpmn' },
  ])
}

function modelOf(process: string, name = 'go'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="messages"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><message id="message" name="${name}" />${process}</definitions>`
}

/** Returns a process that waits for the message. */
function waiting(key: string, name?: string): string {
  return modelOf(
    `<process id="${key}" isExecutable="true" camunda:historyTimeToLive="P1D">
<startEvent id="start" /><sequenceFlow id="one" sourceRef="start" targetRef="wait" />
<intermediateCatchEvent id="wait"><messageEventDefinition messageRef="message" /></intermediateCatchEvent>
<sequenceFlow id="two" sourceRef="wait" targetRef="end" /><endEvent id="end" /></process>`,
    name,
  )
}

/** A process that the message starts. */
const STARTED = modelOf(`<process id="mail" isExecutable="true" camunda:historyTimeToLive="P1D">
<startEvent id="start"><messageEventDefinition messageRef="message" /></startEvent>
<sequenceFlow id="one" sourceRef="start" targetRef="task" /><userTask id="task" /></process>`)
