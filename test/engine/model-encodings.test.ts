import { test } from 'tap'
import { openGateway } from '../differential/gateway.ts'
import { basicOf } from '../differential/http.ts'
import { PASSWORD } from '../differential/sets.ts'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'

const MARK = '\ufeff'

/** Models by the key of their process: the declared encoding, and the bytes. */
const MODELS: Readonly<Record<string, readonly [encoding: string, bytesOf: (text: string) => Buffer]>> = {
  utf8: ['UTF-8', (text) => Buffer.from(text)],
  utf8mark: ['UTF-8', (text) => Buffer.from(MARK + text)],
  latin: ['ISO-8859-1', (text) => Buffer.from(text, 'latin1')],
  windows: ['windows-1252', (text) => Buffer.from(text, 'latin1')],
  little: ['UTF-16', (text) => Buffer.from(MARK + text, 'utf16le')],
  big: ['UTF-16', (text) => Buffer.from(MARK + text, 'utf16le').swap16()],
  unmarked: ['UTF-16LE', (text) => Buffer.from(text, 'utf16le')],
}
const KEYS = Object.keys(MODELS)

/** The last character is in every encoding, with other bytes. */
function messageOf(key: string): string {
  return `${key}-\u00e4`
}

function modelOf(key: string, encoding: string): string {
  return `<?xml version="1.0" encoding="${encoding}"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="t">
<message id="m" name="${messageOf(key)}"/>
<process id="${key}" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start-\u00e4"><messageEventDefinition messageRef="m"/></startEvent></process></definitions>`
}

async function deploy(base: string, key: string, bytes: Buffer): Promise<void> {
  const form = new FormData()
  form.append('deployment-name', key)
  form.append('note.txt', new Blob(['x']), 'note.txt')
  form.append(`${key}.bpmn`, new Blob([new Uint8Array(bytes)]), `models/${key} \u00e4.bpmn`)
  const { status, body } = await exchange(base, { method: 'POST', path: '/deployment/create', body: form })
  if (status !== 200) throw new Error(`${key}: ${status} ${JSON.stringify(body)}`)
}

void test('a message needs the permission on the one process that it starts, in whatever encoding the model is', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  for (const [key, [encoding, bytesOf]] of Object.entries(MODELS))
    await deploy(engine.base, key, bytesOf(modelOf(key, encoding)))
  const gateway = await openGateway(engine.base, {
    sets: KEYS.map(setOf),
    records: KEYS.flatMap(recordsOf),
    implied: true,
    adminGroup: 'camunda-admin',
  })
  t.teardown(() => gateway.close())
  const send = (user: string, key: string) =>
    exchange(
      gateway.base,
      { method: 'POST', path: '/message', body: { messageName: messageOf(key), resultEnabled: true } },
      { authorization: basicOf(user, PASSWORD) },
    )
  for (const [index, key] of KEYS.entries()) {
    const own = await send(key, key)
    t.equal(own.status, 200, key)
    const [started] = Array.isArray(own.body) ? own.body : []
    t.match(Object(started).processInstance?.definitionId, new RegExp(`^${key}:`), `${key} is started`)
    const other = KEYS[(index + 1) % KEYS.length] ?? ''
    const { status, body } = await send(key, other)
    t.equal(status, 403, `${key} may not start ${other}`)
    t.match(body, { missingAuthorizations: [{ permissionName: 'CREATE_INSTANCE', resourceId: other }] })
  }

  await deploy(engine.base, 'unread', Buffer.from(modelOf('unread', 'ISO-8859-15'), 'latin1'))
  t.equal(
    (await send('latin', 'latin')).status,
    403,
    'a model that is not read may be meant by every message',
  )
})

function setOf(user: string, index: number) {
  const none = { group: '', ownGroups: [], joins: [], tenants: [], links: [], records: [], plans: [] }
  return { ...none, index, user, password: PASSWORD }
}

function recordsOf(key: string) {
  const { PROCESS_DEFINITION, PROCESS_INSTANCE } = RESOURCES
  const grant = { type: 1, userId: key, groupId: null }
  return [
    { ...grant, resourceType: PROCESS_DEFINITION.id, resourceId: key, permissions: ['CREATE_INSTANCE'] },
    { ...grant, resourceType: PROCESS_INSTANCE.id, resourceId: '*', permissions: ['CREATE'] },
  ]
}
