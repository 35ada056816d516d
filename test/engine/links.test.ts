import { test } from 'tap'
import { startedByCondition, startedByMessage } from '../differential/models.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { type Answer, type Ask, exchange } from './exchange.ts'
import { startGateway } from './gateway.ts'
import { publishedOperations } from './published/openapi.ts'
import { seed, type Seeded } from './seed.ts'

/*
 * Every operation whose published response has links. Some of them always respond with an empty list of links.
 */

interface Made extends Seeded {
  readonly deploymentId: string
  readonly filterId: string
  readonly attachmentId: string
}

const SUBMITTED = { variables: { subject: { value: 'x' } } }
const START = { variables: {} }

const REQUESTS: Readonly<Record<string, (made: Made) => Ask>> = {
  addAttachment: ({ taskId }) => post(`/task/${taskId}/attachment/create`, attachmentForm()),
  availableGroupInstanceOperations: () => options('/group/g'),
  availableGroupMembersOperations: () => options('/group/g/members'),
  availableGroupOperations: () => options('/group'),
  availableOperations: () => options('/user'),
  availableOperationsAuthorization: () => options('/authorization'),
  availableOperationsAuthorizationInstance: () => options('/authorization/x'),
  availableTenantGroupMembersOperations: () => options('/tenant/acme/group-members'),
  availableTenantInstanceOperations: () => options('/tenant/acme'),
  availableTenantResourceOperations: () => options('/tenant'),
  availableTenantUserMembersOperations: () => options('/tenant/acme/user-members'),
  availableUserOperations: () => options('/user/demo'),
  createComment: ({ taskId }) => post(`/task/${taskId}/comment/create`, { message: 'm' }),
  createDeployment: () => post('/deployment/create', deploymentForm('empty')),
  deliverMessage: () => post('/message', { messageName: 'order', resultEnabled: true }),
  evaluateCondition: () => post('/condition', { variables: { amount: { value: 11, type: 'Integer' } } }),
  filterResourceOptions: () => options('/filter'),
  filterResourceOptionsSingle: ({ filterId }) => options(`/filter/${filterId}`),
  getAttachment: ({ taskId, attachmentId }) => get(`/task/${taskId}/attachment/${attachmentId}`),
  getAttachments: ({ taskId }) => get(`/task/${taskId}/attachment`),
  getComment: ({ taskId, commentId }) => get(`/task/${taskId}/comment/${commentId}`),
  getComments: ({ taskId }) => get(`/task/${taskId}/comment`),
  getDeployment: ({ deploymentId }) => get(`/deployment/${deploymentId}`),
  getDeployments: () => get('/deployment'),
  getProcessInstance: ({ reviewInstanceId }) => get(`/process-instance/${reviewInstanceId}`),
  getProcessInstanceComments: ({ reviewInstanceId }) => get(`/process-instance/${reviewInstanceId}/comment`),
  getProcessInstances: () => get('/process-instance'),
  queryProcessInstances: () => post('/process-instance', {}),
  redeploy: ({ deploymentId }) => post(`/deployment/${deploymentId}/redeploy`, {}),
  startProcessInstance: ({ reviewDefinitionId: id }) => post(`/process-definition/${id}/start`, START),
  startProcessInstanceByKey: () => post('/process-definition/key/review/start', START),
  startProcessInstanceByKeyAndTenantId: () =>
    post('/process-definition/key/tenantReview/tenant-id/acme/start', START),
  submitForm: ({ reviewDefinitionId: id }) => post(`/process-definition/${id}/submit-form`, SUBMITTED),
  submitFormByKey: () => post('/process-definition/key/review/submit-form', SUBMITTED),
  submitFormByKeyAndTenantId: () =>
    post('/process-definition/key/tenantReview/tenant-id/acme/submit-form', SUBMITTED),
}

void test('this test requests each operation whose published response has links', {
  skip: javaSkip,
}, async (t) => {
  const rows = new Map(
    OPERATIONS.map((operation) => [`${operation.method} ${operation.template}`, operation]),
  )
  const published = (await publishedOperations()).filter(({ hasLinks }) => hasLinks)
  const ids = published.map(({ method, path }) => rows.get(`${method} ${templateOf(path)}`)?.id)
  t.same(new Set(ids), new Set(Object.keys(REQUESTS)))
})

void test('the links of a response lead back to the gateway, under its name for the engine', {
  skip: javaSkip,
}, async (t) => {
  const engine = await startEngine()
  t.teardown(() => engine.stop())
  // The gateway's engine `default` is the engine `second` of the node.
  const gateway = await startGateway(engine.base, ', remoteName: second')
  t.teardown(() => gateway.drain())
  const address = `${gateway.base}/engine/default`
  const made = await makeAll(`${engine.base}/engine/second`)
  for (const [id, requestOf] of Object.entries(REQUESTS)) {
    const { status, headers, body } = await exchange(address, requestOf(made), gateway.headers)
    t.equal(status, 200, id)
    const { empty, hrefs } = linksOf(body)
    const isRewritten = OPERATIONS.find((operation) => operation.id === id)?.links !== undefined
    if (isRewritten) t.ok(hrefs.length > 0, `${id} has links`)
    else t.ok(empty > 0 && hrefs.length === 0, `${id} has an empty list of links`)
    for (const href of hrefs) t.ok(href.startsWith(`${address}/`), `${id} ${href}`)
    t.notMatch([...headers.values()].join(), 'engine/second', id)
  }
  for (const path of ['/task', `/task/${made.taskId}`, `/filter/${made.filterId}/list`]) {
    const accept = { accept: 'application/hal+json' }
    const { status, body } = await exchange(address, { ...get(path), headers: accept }, gateway.headers)
    t.equal(status, 200, path)
    t.match(String(body), `"_links":{"`, `${path} has relative links`)
    t.notMatch(String(body), 'second', path)
  }
})

async function makeAll(base: string): Promise<Made> {
  const seeded = await seed(base)
  const deployment = await exchange(base, post('/deployment/create', deploymentForm('starts', MODELS)))
  const filter = await exchange(
    base,
    post('/filter/create', { resourceType: 'Task', name: 'all', query: {}, properties: {} }),
  )
  const attachment = await exchange(base, post(`/task/${seeded.taskId}/attachment/create`, attachmentForm()))
  return {
    ...seeded,
    deploymentId: idOf(deployment),
    filterId: idOf(filter),
    attachmentId: idOf(attachment),
  }
}

const MODELS = { 'message.bpmn': startedByMessage, 'condition.bpmn': startedByCondition }

function deploymentForm(name: string, models: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData()
  form.append('deployment-name', name)
  for (const [file, text] of Object.entries({ 'note.txt': 'x', ...models }))
    form.append(file, new Blob([text]), file)
  return form
}

function attachmentForm(): FormData {
  const form = new FormData()
  form.append('attachment-name', 'a')
  form.append('url', 'http://elsewhere.example/a')
  return form
}

/** Every `links` of the value: how many of them are empty, and the addresses in the others. */
function linksOf(value: unknown): { readonly empty: number; readonly hrefs: readonly string[] } {
  const lists: unknown[][] = []
  JSON.stringify(value, (name, member: unknown) => {
    if (name === 'links' && Array.isArray(member)) lists.push(member)
    return member
  })
  return {
    empty: lists.filter((list) => list.length === 0).length,
    hrefs: lists.flat().map((link) => String(Object(link).href)),
  }
}

function templateOf(path: string): string {
  return path.replaceAll(
    /\{([^}]+)\}/g,
    (_, name: string) => `:${name.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase())}`,
  )
}

function idOf({ status, body }: Answer): string {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return String(Object(body).id)
}

function get(path: string): Ask {
  return { method: 'GET', path }
}

function options(path: string): Ask {
  return { method: 'OPTIONS', path }
}

function post(path: string, body: unknown): Ask {
  return { method: 'POST', path, body }
}
