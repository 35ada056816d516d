import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import bcrypt from 'bcrypt'
import { pino } from 'pino'
import { test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { createDateFormat } from '../../src/request/date-format.ts'
import { isRecord } from '../../src/request/value.ts'
import { createAdmin, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { type Ask, basicOf, createClient } from '../differential/http.ts'
import { javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { startEngine } from './engine.ts'

/** 2026-02-03T04:05:06.007Z */
const DUE_MS = Date.UTC(2026, 1, 3, 4, 5, 6, 7)

/** Date formats. `unit` is the precision of the text in milliseconds. Null if the text does not name an instant. */
const FORMATS = [
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSXXX", unit: 1 },
  { pattern: "yyyy-MM-dd'T'HH:mm:ssZ", unit: 1000 },
  { pattern: 'dd.MM.yyyy HH:mm:ss', unit: null },
  { pattern: 'EEE, d MMM yyyy HH:mm:ss Z', unit: null },
] as const

const KEYS = ['one', 'two']
const PASSWORD = 'dates'

for (const { pattern, unit } of FORMATS)
  void test(`an engine with the date format ${pattern}`, { skip: javaSkip }, async (t) => {
    const engine = await startEngine({ args: [`--gateway.date-format=${pattern}`] })
    t.teardown(engine.stop)
    const gateway = await start(loadConfig(await configIn(t.testdir(), engine.base, pattern)), SILENT)
    t.teardown(gateway.drain)
    const atEngine = createClient(engine.base)
    const client = createClient(`${gateway.address}/engine-rest`)
    t.teardown(() => Promise.all([atEngine.close(), client.close()]))
    const admin = createAdmin(atEngine)
    for (const key of KEYS)
      await admin.upload('/deployment/create', [
        { name: 'deployment-name', value: key },
        { name: `${key}.bpmn`, value: bpmnOf(key), file: `${key}.bpmn` },
      ])
    const instances: string[] = []
    for (let index = 0; index < 24; index += 1)
      instances.push(idOf(await admin.call('POST', `/process-definition/key/${KEYS[index % 2]}/start`, {})))
    const [task] = rowsOf(await admin.call('GET', '/task'))
    const taskId = textOf(task, 'id')
    const instance = textOf(task, 'processInstanceId')
    const as = (user: string, request: Ask) => client.send(request, basicOf(user, PASSWORD))

    const shown = await admin.call('GET', `/task/${taskId}`)
    await admin.call('PUT', `/task/${taskId}`, { ...Object(shown), due: DUE_MS })
    const dueText = textOf(await admin.call('GET', `/task/${taskId}`), 'due')

    await t.test('the gateway reads and writes dates as the engine does, or not at all', async (t) => {
      const format = createDateFormat(pattern)
      t.equal(format.toMs(dueText), unit === null ? null : Math.floor(DUE_MS / unit) * unit)
      t.equal(format.hasMilliseconds, unit === 1)
      const written = format.format(DUE_MS)
      t.equal(written === null, unit === null)
      if (written === null) return
      await admin.call('PUT', `/task/${taskId}`, { ...Object(shown), due: written })
      t.equal(textOf(await admin.call('GET', `/task/${taskId}`), 'due'), dueText)
    })

    await t.test(
      'requests with dates in this format have the same result at the gateway and at the engine',
      async (t) => {
        const requests: readonly Ask[] = [
          { method: 'POST', path: '/task', body: { dueDate: null, dueBefore: dueText } },
          { method: 'POST', path: '/task', body: { createdAfter: dueText, sorting: [] } },
          { method: 'GET', path: `/task?createdAfter=${encodeURIComponent(dueText)}` },
          { method: 'GET', path: `/task/count?createdBefore=${encodeURIComponent(dueText)}` },
          { method: 'PUT', path: `/task/${taskId}`, body: { ...Object(shown), due: dueText } },
          {
            method: 'PUT',
            path: `/process-instance/${instance}/variables/when`,
            body: { value: dueText, type: 'Date' },
          },
        ]
        for (const request of requests) {
          const expected = await atEngine.send(request)
          for (const user of ['demo', 'clerk']) {
            const { status, bytes } = await as(user, request)
            t.equal(status, expected.status, `${request.method} ${request.path} by ${user}`)
            t.ok(status < 300)
            t.equal(bytes.toString(), expected.bytes.toString())
          }
        }
      },
    )

    await t.test('a text that is not a date in this format has the response of the engine', async (t) => {
      const requests: readonly Ask[] = [
        { method: 'POST', path: '/task', body: { dueBefore: 'tomorrow' } },
        { method: 'GET', path: '/task?dueBefore=tomorrow' },
        {
          method: 'PUT',
          path: `/process-instance/${instance}/variables/when`,
          body: { value: 'tomorrow', type: 'Date' },
        },
      ]
      for (const request of requests)
        for (const user of ['demo', 'clerk', 'nobody']) {
          const { status } = await as(user, request)
          const isRefused = user === 'nobody' && request.method === 'PUT'
          t.equal(status, isRefused ? 403 : 400, `${request.method} ${request.path} by ${user}`)
        }
    })

    await t.test(
      'a message with a key that is a text in this format is decided on each waiting instance',
      async (t) => {
        await admin.upload('/deployment/create', [
          { name: 'deployment-name', value: 'message' },
          { name: 'one.bpmn', value: WAITING, file: 'one.bpmn' },
        ])
        const variables = { key: { value: dueText } }
        await admin.call('POST', '/process-definition/key/one/start', { variables })
        const waiting = async () => rowsOf(await admin.call('GET', '/event-subscription')).length
        const body = { messageName: 'go', correlationKeys: variables }
        const message: Ask = { method: 'POST', path: '/message', body }
        t.equal((await as('nobody', message)).status, 403)
        t.equal(await waiting(), 1)
        t.equal((await as('clerk', message)).status, 204)
        t.equal(await waiting(), 0)
      },
    )

    await t.test('pages of a list sorted by time neither repeat nor lose an item', async (t) => {
      const list = '/history/activity-instance?activityType=userTask&sortBy=startTime&sortOrder=asc'
      const ids: string[] = []
      for (let first = 0; first < instances.length; first += 5) {
        const path = `${list}&firstResult=${first}&maxResults=5`
        const page = await as('clerk', { method: 'GET', path })
        t.equal(page.status, 200)
        ids.push(...rowsOf(JSON.parse(page.bytes.toString())).map((row) => textOf(row, 'processInstanceId')))
      }
      t.same(ids, instances)
    })

    await t.test('the task of a disconnected worker is unlocked', async (t) => {
      const body = {
        workerId: 'left',
        maxTasks: 1,
        asyncResponseTimeout: 20_000,
        topics: [{ topicName: 'work', lockDuration: 600_000 }],
      }
      const left = new AbortController()
      const poll = fetch(`${gateway.address}/engine-rest/external-task/fetchAndLock`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', authorization: basicOf('demo', PASSWORD) },
        signal: left.signal,
      })
      await delay(300)
      left.abort()
      await t.rejects(poll)
      await admin.upload('/deployment/create', [
        { name: 'deployment-name', value: 'work' },
        { name: 'work.bpmn', value: WORK, file: 'work.bpmn' },
      ])
      await admin.call('POST', '/process-definition/key/work/start', {})
      await until(async () => {
        const [locked] = rowsOf(await admin.call('GET', '/external-task'))
        return isRecord(locked) && locked['workerId'] === null
      })
    })
  })

const SILENT = pino({ level: 'silent' })

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await isDone()) return
    await delay(100)
  }
  throw new Error('the task is still locked')
}

/** `demo` may do everything, `clerk` may see and change the instances of two keys, `nobody` has no record. */
async function configIn(folder: string, node: string, dateFormat: string): Promise<string> {
  const passwordHash = await bcrypt.hash(PASSWORD, 4)
  const users = ['demo', 'clerk', 'nobody'].map((id) => ({ id, passwordHash, groups: [], tenants: [] }))
  const permissions = ['READ', 'READ_INSTANCE', 'READ_TASK', 'UPDATE_TASK', 'READ_HISTORY', 'UPDATE_INSTANCE']
  const records = [
    ...[6, 7, 8].map((resourceType) => ({
      type: 1,
      userId: 'demo',
      resourceType,
      resourceId: '*',
      permissions: ['ALL'],
    })),
    ...KEYS.map((resourceId) => ({ type: 1, userId: 'clerk', resourceType: 6, resourceId, permissions })),
  ]
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [node], dateFormat } },
    identity: { source: 'file', file: join(folder, 'users.json') },
    authorization: { records: { source: 'file', file: join(folder, 'records.json') } },
  }
  await writeFile(join(folder, 'users.json'), JSON.stringify({ users }))
  await writeFile(join(folder, 'records.json'), JSON.stringify(records))
  const file = join(folder, 'gateway.yaml')
  await writeFile(file, JSON.stringify(config))
  return file
}

function bpmnOf(key: string): string {
  return modelOf(`<process id="${key}" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/><userTask id="node"/></process>`)
}

const WAITING = modelOf(`<message id="message" name="go"/>
<process id="one" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="wait"/>
<intermediateCatchEvent id="wait"><messageEventDefinition messageRef="message"/></intermediateCatchEvent></process>`)

const WORK = modelOf(`<process id="work" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/>
<serviceTask id="node" camunda:type="external" camunda:topic="work"/></process>`)

function modelOf(process: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="dates">${process}</definitions>`
}
