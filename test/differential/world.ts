import { type Admin, idOf, rowsOf, textOf } from './admin.ts'
import type { Part } from './http.ts'
import * as models from './models.ts'

/** Names an entity that has just been created. */
export type Define = (name: string, id: string) => void

/** Creates the same entities in the same order at any engine. */
export async function buildWorld(admin: Admin, define: Define): Promise<void> {
  await makeIdentity(admin, define)
  await deployAll(admin)
  await startAll(admin)
  await makeTasks(admin)
  await decorate(admin, define)
  await makeIncidents(admin)
  await makeHistory(admin)
}

export const KEYS = ['office', 'review', 'mail', 'broken', 'timed', 'external', 'waiting', 'caller', 'moving']

async function makeIdentity({ call }: Admin, define: Define): Promise<void> {
  for (const id of ['editors', 'readers', 'staff']) {
    await call('POST', '/group/create', { id, name: id, type: 'TEST' })
    define(`group.${id}`, id)
  }
  for (const id of ['anna', 'ben', 'carl']) {
    await call('POST', '/user/create', {
      profile: { id, firstName: id, lastName: 'Test', email: `${id}@test.example` },
      credentials: { password: 'known' },
    })
    define(`user.${id}`, id)
  }
  for (const id of ['acme', 'globex']) {
    await call('POST', '/tenant/create', { id, name: id })
    define(`tenant.${id}`, id)
  }
  for (const path of [
    '/group/editors/members/anna',
    '/group/readers/members/ben',
    '/group/staff/members/ben',
  ])
    await call('PUT', path)
  await call('PUT', '/tenant/acme/user-members/anna')
  await call('PUT', '/tenant/acme/group-members/staff')
  for (const key of [...KEYS, 'byCondition', 'byMessage', 'bySignal']) define(`pdkey.${key}`, key)
  for (const key of ['discount', 'dish', 'season']) define(`ddkey.${key}`, key)
  define('drdkey.menu', 'menu')
}

interface Deployment {
  readonly name: string
  readonly tenant?: string
  readonly files: Readonly<Record<string, string>>
}

export function formOf({ name, tenant, files }: Deployment): readonly Part[] {
  return [
    { name: 'deployment-name', value: name },
    ...(tenant === undefined ? [] : [{ name: 'tenant-id', value: tenant }]),
    ...Object.entries(files).map(([file, value]) => ({ name: file, value, file })),
  ]
}

async function deployAll({ upload }: Admin): Promise<void> {
  const forms = { 'start.html': '<form>start</form>', 'desk.html': '<form>desk</form>' }
  const officeFiles = { 'office.bpmn': models.office, 'office.png': 'not really a picture', ...forms }
  const discountFiles = { 'discount.dmn': models.discount, 'discount.png': 'a picture of a discount' }
  const dishFiles = { 'dish.dmn': models.dish, 'dish.png': 'a picture of a dish' }
  const deployments: readonly Deployment[] = [
    { name: 'office', files: officeFiles },
    { name: 'office', tenant: 'acme', files: officeFiles },
    { name: 'review', files: { 'review.bpmn': models.review } },
    { name: 'mail', files: { 'mail.bpmn': models.job('mail', '${true}') } },
    { name: 'mail', tenant: 'acme', files: { 'mail.bpmn': models.job('mail', '${true}') } },
    { name: 'broken', files: { 'broken.bpmn': models.job('broken', '${nosuch.thing}') } },
    { name: 'timed', files: { 'timed.bpmn': models.timed } },
    { name: 'external', files: { 'external.bpmn': models.external } },
    { name: 'external', tenant: 'acme', files: { 'external.bpmn': models.external } },
    { name: 'waiting', files: { 'waiting.bpmn': models.waiter('waiting', 'halt', 'paid') } },
    {
      name: 'catching',
      files: {
        'catching.bpmn': models.waiter('catching', 'stop', 'ready'),
        'listening.bpmn': models.waiter('listening', 'stop', 'heard'),
      },
    },
    { name: 'bySignal', files: { 'bySignal.bpmn': models.startedBySignal } },
    { name: 'byMessage', files: { 'byMessage.bpmn': models.startedByMessage } },
    { name: 'byCondition', files: { 'byCondition.bpmn': models.startedByCondition } },
    { name: 'caller', files: { 'caller.bpmn': models.caller } },
    { name: 'moving-1', files: { 'moving.bpmn': models.moving(1) } },
    { name: 'moving-2', files: { 'moving.bpmn': models.moving(2) } },
    { name: 'discount', files: discountFiles },
    { name: 'discount', tenant: 'acme', files: discountFiles },
    { name: 'dish', files: dishFiles },
    { name: 'dish', tenant: 'acme', files: dishFiles },
    { name: 'care', files: { 'care.cmmn': models.careCase } },
  ]
  for (const deployment of deployments) await upload('/deployment/create', formOf(deployment))
}

/** Starts an instance of a key, or of a tenant's definition with this key. The business key names the instance. Returns its id. */
export async function startOne(
  { call }: Admin,
  key: string,
  { businessKey, tenant, variables }: { businessKey: string; tenant?: string; variables?: unknown },
): Promise<string> {
  const of = tenant === undefined ? '' : `/tenant-id/${tenant}`
  return idOf(await call('POST', `/process-definition/key/${key}${of}/start`, { businessKey, variables }))
}

async function startAll(admin: Admin): Promise<void> {
  const variables = { pages: { value: 12, type: 'Long' }, colour: { value: 'red', type: 'String' } }
  for (const businessKey of ['office-1', 'office-2', 'office-ended'])
    await startOne(admin, 'office', { businessKey, variables })
  for (const key of ['review', 'mail', 'broken', 'timed', 'external', 'waiting', 'caller'])
    await startOne(admin, key, { businessKey: `${key}-1` })
  await startOne(admin, 'external', { businessKey: 'external-2' })
  for (const key of ['office', 'mail', 'external'])
    await startOne(admin, key, { businessKey: `${key}-acme`, tenant: 'acme', variables })
  const first = idOf(await admin.call('GET', '/process-definition?key=moving&version=1'))
  await admin.call('POST', `/process-definition/${first}/start`, { businessKey: 'moving-1' })
  const moving = idOf(await admin.call('GET', '/process-instance?businessKey=moving-1'))
  await admin.call('PUT', `/process-instance/${moving}/suspended`, { suspended: true })
}

async function makeTasks({ call }: Admin): Promise<void> {
  await call('POST', '/task/create', { id: null, name: 'alone-1', assignee: 'anna' })
  const alone = idOf(await call('GET', '/task?name=alone-1'))
  await call('POST', '/task/create', { name: 'alone-part', parentTaskId: alone })
  await call('POST', '/task/create', { name: 'alone-acme', tenantId: 'acme' })
  await call('PUT', `/task/${alone}/variables/mood`, { value: 'good', type: 'String' })
  await call('PUT', `/task/${alone}/localVariables/place`, { value: 'here', type: 'String' })
  await call('POST', '/case-definition/key/care/create', { businessKey: 'care-1' })
  const ended = idOf(await call('GET', '/task?processInstanceBusinessKey=office-ended'))
  await call('POST', `/task/${ended}/complete`, {})
}

async function decorate({ call, upload }: Admin, define: Define): Promise<void> {
  const task = await taskOf(call, 'office-1')
  const instance = textOf(rowsOf(await call('GET', '/process-instance?businessKey=office-1'))[0], 'id')
  const alone = idOf(await call('GET', '/task?name=alone-1'))
  for (const [name, id] of [
    ['office-1', task],
    ['alone-1', alone],
  ] as const) {
    const message = `about ${name}`
    const comment = { message, ...(name === 'office-1' && { processInstanceId: instance }) }
    define(`comment.${name}`, idOf(await call('POST', `/task/${id}/comment/create`, comment)))
    const form = [
      { name: 'attachment-name', value: 'notes' },
      { name: 'attachment-type', value: 'text/plain' },
      { name: 'content', value: 'what is attached', file: 'notes.txt', type: 'text/plain' },
    ]
    define(`attachment.${name}`, idOf(await upload(`/task/${id}/attachment/create`, form)))
  }
  await call('PUT', `/task/${task}/localVariables/note`, { value: 'local', type: 'String' })
  const bytes = [
    { name: 'data', value: 'bytes', file: 'data.bin', type: 'application/octet-stream' },
    { name: 'valueType', value: 'Bytes', type: 'text/plain' },
  ]
  await upload(`/process-instance/${instance}/variables/file/data`, bytes)
  await call('POST', `/task/${await taskOf(call, 'office-2')}/assignee`, { userId: 'anna' })
  await call('PUT', `/process-instance/${instance}/variables/pages`, { value: 13, type: 'Long' })
  await makeFilters(call)
}

async function makeFilters(call: Admin['call']): Promise<void> {
  const filters = [
    { name: 'all', owner: null, query: {} },
    { name: 'office', owner: null, query: { processDefinitionKey: 'office' } },
    { name: 'single', owner: 'ben', query: { name: 'alone-1' } },
  ]
  for (const filter of filters)
    await call('POST', '/filter/create', { resourceType: 'Task', properties: {}, ...filter })
}

async function makeIncidents({ call, attempt }: Admin): Promise<void> {
  const broken = idOf(await call('GET', '/job?processDefinitionKey=broken'))
  await attempt('POST', `/job/${broken}/execute`)
  const failing = rowsOf(await call('GET', '/external-task')).filter(
    ({ businessKey }) => businessKey === 'external-2',
  )
  const id = idOf(failing)
  await call('POST', `/external-task/${id}/lock`, { workerId: 'worker', lockDuration: 600_000 })
  const failure = { workerId: 'worker', errorMessage: 'failed', errorDetails: 'at line 1', retries: 0 }
  await call('POST', `/external-task/${id}/failure`, failure)
}

async function makeHistory({ call }: Admin): Promise<void> {
  const variables = { sum: { value: 1200, type: 'Integer' } }
  await call('POST', '/decision-definition/key/discount/evaluate', { variables })
  await call('POST', '/decision-definition/key/discount/tenant-id/acme/evaluate', { variables })
  const degrees = { degrees: { value: 3, type: 'Integer' } }
  await call('POST', '/decision-definition/key/dish/evaluate', { variables: degrees })
  const office = idOf(await call('GET', '/process-instance?businessKey=office-1'))
  await call('POST', '/process-instance/variables-async', {
    processInstanceIds: [office],
    variables: { batched: { value: 'yes', type: 'String' } },
  })
  // A batch of a tenant. Its seed job belongs to no definition.
  const [{ definitionId = '', id: acme = '' } = {}] = rowsOf(
    await call('GET', '/process-instance?businessKey=office-acme'),
  )
  await call('POST', '/modification/executeAsync', {
    processDefinitionId: definitionId,
    processInstanceIds: [acme],
    instructions: [{ type: 'startBeforeActivity', activityId: 'desk' }],
  })
  const ended = idOf(await call('GET', '/history/process-instance?processInstanceBusinessKey=office-ended'))
  await call('POST', '/history/process-instance/set-removal-time', {
    historicProcessInstanceIds: [ended],
    clearedRemovalTime: true,
  })
  await call('POST', '/history/cleanup?immediatelyDue=true')
  for (const suspended of [true, false])
    await call('PUT', `/process-instance/${office}/suspended`, { suspended })
}

async function taskOf(call: Admin['call'], businessKey: string): Promise<string> {
  return idOf(await call('GET', `/task?processInstanceBusinessKey=${businessKey}`))
}
