import t from 'tap'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'

const MARY = { authorization: `Basic ${Buffer.from('mary:mary').toString('base64')}` }

/** If the engine expects a text and receives a number, it uses the digits of the number unchanged. */
t.test('the gateway decides on values as the engine converts them', { skip: javaSkip }, async (t) => {
  const engine = await startEngine()
  const gateway = await startGateway(engine.base)
  t.teardown(async () => {
    await gateway.drain()
    await engine.stop()
  })

  const signals: readonly (readonly [name: string, tenant: string | null, body: string])[] = [
    ['1.0', null, '{"name":1.0}'],
    ['1e3', null, '{"name":1e3}'],
    ['12345678901234567890', null, '{"name":12345678901234567890}'],
    ['true', null, '{"name":true}'],
    ['both', 'acme', '{"name":"both","tenantId":"acme","withoutTenantId":true}'],
    ['comma', 'a,b', '{"name":"comma","tenantId":"a,b"}'],
  ]
  for (const [name, tenant, body] of signals)
    await t.test(`a signal named by ${body} is refused without permission`, async (t) => {
      const waiting = async (): Promise<unknown> =>
        (await exchange(engine.base, { method: 'GET', path: `/event-subscription/count?eventName=${name}` }))
          .body
      await startWaiting(engine.base, { event: 'signal', name, tenant })
      t.same(await waiting(), { count: 1 })
      const refused = await send(gateway.base, 'POST /signal', body, MARY)
      t.ok(refused.status >= 400, `${refused.status}`)
      t.same(await waiting(), { count: 1 }, 'nothing has heard it')
      t.equal((await send(engine.base, 'POST /signal', body)).status, 204)
      t.same(await waiting(), { count: 0 }, 'at the engine it is heard')
    })

  const long = 'x'.repeat(3900)
  const keys: readonly (readonly [variables: string, keys: string])[] = [
    ['{"n":{"value":5,"type":"Integer"}}', '{"n":{"value":"5","type":"Integer"}}'],
    ['{"n":{"value":true}}', '{"n":{"value":"true","type":"boolean"}}'],
    ['{"n":{"value":"2020-01-01T00:00:00.000+0000"}}', '{"n":{"value":"2020-01-01T00:00:00.000+0000"}}'],
    ['{"n":{"value":""}}', '{"n":{"value":""}}'],
    ['{"n":{"value":"null"}}', '{"n":{"value":"null"}}'],
    ['{"n":{"value":"\\"q"}}', '{"n":{"value":"\\"q"}}'],
    ...[`{"n":{"value":"${long}"},"m":{"value":"${long}"},"o":{"value":"${long}"}}`].map(
      (all) => [all, all] as const,
    ),
  ]
  for (const [variables, given] of keys)
    await t.test(`a message with the key ${given.slice(0, 60)} is refused without permission`, async (t) => {
      await startWaiting(engine.base, { event: 'message', name: 'go', tenant: null, variables })
      const waiting = async (): Promise<unknown> =>
        (await exchange(engine.base, { method: 'GET', path: '/event-subscription/count?eventName=go' })).body
      const body = `{"messageName":"go","correlationKeys":${given}}`
      t.equal((await send(gateway.base, 'POST /message', body, MARY)).status, 403)
      t.same(await waiting(), { count: 1 }, 'nothing has heard it')
      t.equal((await send(engine.base, 'POST /message', body)).status, 204)
      t.same(await waiting(), { count: 0 }, 'at the engine it is heard')
    })

  await t.test('a numeric id is compared as text', async (t) => {
    const second = `${engine.base}/engine/second`
    await startWaiting(second, { event: 'signal', name: 'numbered', tenant: null })
    const found = await exchange(second, { method: 'GET', path: '/process-instance?maxResults=1' })
    const [id] = JSON.stringify(found.body).match(/(?<="id":")\d+(?=")/) ?? []
    t.ok(id)
    const body = `{"processInstanceIds":[${id}],"suspended":true}`
    const route = 'PUT /process-instance/suspended'
    t.equal((await send(`${gateway.base}/engine/second`, route, body, MARY)).status, 403)
    t.equal((await send(second, route, body)).status, 204)
  })

  await t.test('an empty JSON body has the same response as an empty object', async (t) => {
    const made = await send(
      engine.base,
      'POST /filter/create',
      '{"resourceType":"Task","name":"all","query":{}}',
    )
    const [id] = (await made.text()).match(/(?<="id":")[^"]+/) ?? []
    t.ok(id)
    const headers = { ...gateway.headers, 'content-type': 'application/json' }
    for (const route of [
      `POST /filter/${id}/count`,
      `POST /filter/${id}/list`,
      `POST /filter/${id}/singleResult`,
      'POST /task/count',
      'POST /execution',
      'POST /message',
    ]) {
      const [method = '', path = ''] = route.split(' ')
      const answerTo = async (body: string): Promise<unknown> => {
        const signal = AbortSignal.timeout(20_000)
        const answer = await fetch(gateway.base + path, { method, body, headers, signal })
        return { status: answer.status, text: await answer.text() }
      }
      t.same(await answerTo(''), await answerTo('{}'), route)
    }
  })
})

interface Waiting {
  readonly event: 'message' | 'signal'
  readonly name: string
  readonly tenant: string | null
  /** Variables of the instance, as JSON. */
  readonly variables?: string
}

/** Starts one instance that waits for the event. */
async function startWaiting(base: string, { event, name, tenant, variables = '{}' }: Waiting): Promise<void> {
  const key = `waits-${Buffer.from(name).toString('hex')}`
  const model = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x"
    xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
  <${event} id="event" name="${name}" />
  <process id="${key}" isExecutable="true" camunda:historyTimeToLive="1">
    <startEvent id="start" />
    <sequenceFlow id="one" sourceRef="start" targetRef="wait" />
    <intermediateCatchEvent id="wait"><${event}EventDefinition ${event}Ref="event" /></intermediateCatchEvent>
    <sequenceFlow id="two" sourceRef="wait" targetRef="end" />
    <endEvent id="end" />
  </process>
</definitions>`
  const form = new FormData()
  form.append('deployment-name', key)
  if (tenant !== null) form.append('tenant-id', tenant)
  form.append('model.bpmn', new Blob([model]), 'model.bpmn')
  await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  const of = tenant === null ? '' : `/tenant-id/${encodeURIComponent(tenant)}`
  await send(base, `POST /process-definition/key/${key}${of}/start`, `{"variables":${variables}}`)
}

/** Sends the body with unchanged bytes. */
async function send(base: string, route: string, body: string, headers = {}): Promise<Response> {
  const [method = '', path = ''] = route.split(' ')
  return fetch(base + path, { method, body, headers: { 'content-type': 'application/json', ...headers } })
}
