import { randomUUID } from 'node:crypto'
import { type Admin, idOf, isJson, type Json, rowsOf, textOf } from './admin.ts'
import { formOf, startOne } from './world.ts'
import type { About } from './names.ts'
import type { Left } from './sweep.ts'
import * as models from './models.ts'

/** The entities that were created for one request: their ids by name, and the resources whose permissions give access to them. */
export interface Made {
  readonly ids: Readonly<Record<string, string>>
  readonly about: Readonly<Record<string, About>>
}

type Recipe = (admin: Admin) => Promise<Made>

const ofTenant = (tenant: string | null) => (tenant === null ? {} : { tenant })

function instance(key: string, tenant: string | null = null): Recipe {
  return async (admin) => {
    const variables = { pages: { value: 1, type: 'Long' } }
    const id = await startOne(admin, key, { businessKey: 'new', variables, ...ofTenant(tenant) })
    const tree = await admin.call('GET', `/process-instance/${id}/activity-instances`)
    const ids: Record<string, string> = { 'new.pi': id, 'new.execution': id }
    const find = async (name: string, path: string, by = 'processInstanceId'): Promise<void> => {
      const [row] = rowsOf(await admin.call('GET', `${path}?${by}=${id}`))
      if (row !== undefined) ids[name] = idOf(row)
    }
    await find('new.task', '/task')
    await find('new.job', '/job')
    await find('new.extern', '/external-task')
    await find('new.var', '/variable-instance', 'processInstanceIdIn')
    for (const child of childrenOf(tree)) {
      const [execution] = executionsOf(child)
      if (execution !== undefined) ids[`new.${textOf(child, 'activityId')}`] = execution
      if (execution !== undefined && execution !== id) ids['new.execution'] = execution
      ids['new.activity'] = textOf(child, 'id')
    }
    return { ids, about: aboutOf(ids, { PROCESS_DEFINITION: key, PROCESS_INSTANCE: '<new.pi>' }) }
  }
}

/** Returns the children in an order that is the same at both engines. */
function childrenOf(tree: unknown): readonly Json[] {
  const children = isJson(tree) ? rowsOf(tree['childActivityInstances']) : []
  return [...children].sort((one, other) =>
    textOf(one, 'activityId').localeCompare(textOf(other, 'activityId')),
  )
}

function executionsOf(child: Json): string[] {
  const executions = child['executionIds']
  return Array.isArray(executions) ? executions.filter((id) => typeof id === 'string') : []
}

function aboutOf(ids: Readonly<Record<string, string>>, about: About): Record<string, About> {
  return Object.fromEntries(
    Object.keys(ids).map((name) => [name, name === 'new.task' ? { ...about, TASK: '<new.task>' } : about]),
  )
}

function standalone(tenantId: string | null): Recipe {
  return async ({ call }) => {
    const id = randomUUID()
    await call('POST', '/task/create', { id, name: 'new', tenantId })
    return { ids: { 'new.task': id }, about: { 'new.task': { TASK: '<new.task>' } } }
  }
}

const caseTask: Recipe = async ({ call }) => {
  const id = idOf(await call('POST', '/case-definition/key/care/create', { businessKey: 'new' }))
  const task = idOf(await call('GET', `/task?caseInstanceId=${id}`))
  return { ids: { 'new.task': task, 'new.case': id }, about: { 'new.task': { TASK: '<new.task>' } } }
}

function withMade(recipe: Recipe, more: (admin: Admin, made: Made) => Promise<Made>): Recipe {
  return async (admin) => more(admin, await recipe(admin))
}

function adding({ ids, about }: Made, more: Readonly<Record<string, string>>, base = 'new.pi'): Made {
  const added = Object.fromEntries(Object.keys(more).map((name) => [name, about[base] ?? {}]))
  return { ids: { ...ids, ...more }, about: { ...about, ...added } }
}

const locked = (recipe: Recipe): Recipe =>
  withMade(recipe, async ({ call }, made) => {
    const lock = { workerId: 'worker', lockDuration: 600_000 }
    await call('POST', `/external-task/${made.ids['new.extern']}/lock`, lock)
    return made
  })

const failed: Recipe = withMade(instance('broken'), async ({ call, attempt }, made) => {
  await attempt('POST', `/job/${made.ids['new.job']}/execute`)
  const incidents = await call('GET', `/incident?processInstanceId=${made.ids['new.pi']}`)
  return adding(made, { 'new.incident': idOf(incidents) })
})

const ended = (tenant: string | null): Recipe =>
  withMade(instance('office', tenant), async ({ call }, made) => {
    await call('POST', `/task/${made.ids['new.task']}/complete`, {})
    const id = made.ids['new.pi']
    const variable = idOf(await call('GET', `/history/variable-instance?processInstanceId=${id}`))
    return adding(made, { 'new.hvar': variable })
  })

const attached: Recipe = withMade(instance('office'), async ({ upload }, made) => {
  const form = [
    { name: 'attachment-name', value: 'new' },
    { name: 'content', value: 'new', file: 'new.txt', type: 'text/plain' },
  ]
  const path = `/task/${made.ids['new.task']}/attachment/create`
  return adding(made, { 'new.attachment': idOf(await upload(path, form)) }, 'new.task')
})

const deployed = (tenant: string | null): Recipe => {
  return async ({ call, upload }) => {
    const files = { 'temp.bpmn': models.job('temp', '${true}') }
    const id = idOf(await upload('/deployment/create', formOf({ name: 'temp', files, ...ofTenant(tenant) })))
    const resource = idOf(await call('GET', `/deployment/${id}/resources`))
    const definition = idOf(await call('GET', `/process-definition?deploymentId=${id}`))
    const about = { DEPLOYMENT: '<new.deployment>', PROCESS_DEFINITION: 'temp' }
    const ids = { 'new.deployment': id, 'new.resource': resource, 'new.pd': definition }
    return { ids, about: aboutOf(ids, about) }
  }
}

/** Deploys versions of one key for several tenants. The newest version must be the only one with its number: the engine checks it first. */
const versions = (tenants: readonly (string | null)[]): Recipe => {
  return async ({ call, upload }) => {
    const ids: Record<string, string> = {}
    for (const [at, tenant] of tenants.entries()) {
      const files = { 'versions.bpmn': models.job('versions', `\${${at} >= 0}`) }
      const form = formOf({ name: 'versions', files, ...ofTenant(tenant) })
      const deployment = idOf(await upload('/deployment/create', form))
      ids[`new.pd.${at}`] = idOf(await call('GET', `/process-definition?deploymentId=${deployment}`))
    }
    return { ids, about: aboutOf(ids, { PROCESS_DEFINITION: 'versions' }) }
  }
}

const batch: Recipe = withMade(instance('office'), async (admin, made) => {
  const body = {
    processInstanceIds: [made.ids['new.pi']],
    variables: { batched: { value: 'yes', type: 'String' } },
  }
  return withBatch(admin, made, await admin.call('POST', '/process-instance/variables-async', body))
})

/** Creates a batch that belongs to a tenant, which is the tenant of the definition whose instances it modifies. */
const batchAcme: Recipe = withMade(instance('office', 'acme'), async (admin, made) => {
  const instances = await admin.call('GET', `/process-instance?processInstanceIds=${made.ids['new.pi']}`)
  const body = {
    processDefinitionId: textOf(rowsOf(instances)[0], 'definitionId'),
    processInstanceIds: [made.ids['new.pi']],
    instructions: [{ type: 'startBeforeActivity', activityId: 'desk' }],
  }
  return withBatch(admin, made, await admin.call('POST', '/modification/executeAsync', body))
})

/** Adds a batch and its seed job, which creates the other jobs of the batch. */
async function withBatch({ call }: Admin, made: Made, answer: unknown): Promise<Made> {
  const seed = textOf(answer, 'seedJobDefinitionId')
  const ids = {
    ...made.ids,
    'new.batch': idOf(answer),
    'new.seedjob': idOf(await call('GET', `/job?jobDefinitionId=${seed}`)),
  }
  const about = { BATCH: '<new.batch>' }
  return { ids, about: { ...made.about, 'new.batch': about, 'new.seedjob': about } }
}

/** Creates two instances that wait for the signal 'stop'. */
const signalled: Recipe = withMade(instance('catching'), async (admin, made) => {
  const { ids, about } = await instance('listening')(admin)
  const more = { 'new.pi2': ids['new.pi'] ?? '', 'new.signalled2': ids['new.signalled'] ?? '' }
  const second = { ...about['new.pi'], PROCESS_INSTANCE: '<new.pi2>' }
  return {
    ids: { ...made.ids, ...more },
    about: { ...made.about, 'new.pi2': second, 'new.signalled2': second },
  }
})

/** Creates a user, a group and a tenant whose ids begin with a prefix. */
const identity = (prefix: string): Recipe => {
  return async ({ call }) => {
    const [user, group, tenant] = [`${prefix}user`, `${prefix}group`, `${prefix}tenant`]
    const profile = { id: user, firstName: 'New', lastName: 'User', email: 'new@test.example' }
    await call('POST', '/user/create', { profile, credentials: { password: 'known' } })
    await call('POST', '/group/create', { id: group, name: 'new', type: 'TEST' })
    await call('POST', '/tenant/create', { id: tenant, name: 'new' })
    return { ids: { 'new.user': user, 'new.group': group, 'new.tenant': tenant }, about: {} }
  }
}

const membership: Recipe = withMade(identity('joined'), async ({ call }, made) => {
  await call('PUT', '/group/joinedgroup/members/joineduser')
  await call('PUT', '/tenant/joinedtenant/user-members/joineduser')
  await call('PUT', '/tenant/joinedtenant/group-members/joinedgroup')
  return made
})

const filter: Recipe = async ({ call }) => {
  const body = { resourceType: 'Task', name: 'new', owner: null, query: {}, properties: {} }
  const id = idOf(await call('POST', '/filter/create', body))
  return { ids: { 'new.filter': id }, about: { 'new.filter': { FILTER: '<new.filter>' } } }
}

const record: Recipe = async ({ call }) => {
  const body = { type: 1, permissions: ['READ'], userId: 'carl', resourceType: 7, resourceId: 'new' }
  const id = idOf(await call('POST', '/authorization/create', body))
  return { ids: { 'new.auth': id }, about: { 'new.auth': { AUTHORIZATION: '<new.auth>' } } }
}

const decided: Recipe = async ({ call }) => {
  const variables = { sum: { value: 1, type: 'Integer' } }
  await call('POST', '/decision-definition/key/discount/evaluate', { variables })
  const query = 'decisionDefinitionKey=discount&sortBy=evaluationTime&sortOrder=desc&maxResults=1'
  const id = idOf(await call('GET', `/history/decision-instance?${query}`))
  return { ids: { 'new.hdi': id }, about: { 'new.hdi': { DECISION_DEFINITION: 'discount' } } }
}

/** Recipes for entities that requests may change. The forms of a recipe differ in the permissions that they need. */
export const RECIPES = {
  task: [
    instance('office'),
    instance('office', 'acme'),
    standalone(null),
    standalone('acme'),
    caseTask,
    instance('office'),
  ],
  instance: [instance('office'), instance('office', 'acme'), instance('waiting'), instance('mail')],
  office: [instance('office'), instance('office', 'acme')],
  waiting: [instance('waiting')],
  job: [instance('mail'), instance('mail', 'acme'), instance('timed'), instance('broken'), failed],
  timer: [instance('timed')],
  extern: [locked(instance('external')), locked(instance('external', 'acme'))],
  incident: [failed],
  moving: [
    async ({ call }) => {
      const first = idOf(await call('GET', '/process-definition?key=moving&version=1'))
      const id = idOf(await call('POST', `/process-definition/${first}/start`, { businessKey: 'new' }))
      const about = { PROCESS_DEFINITION: 'moving', PROCESS_INSTANCE: '<new.pi>' }
      return {
        ids: { 'new.pi': id, 'new.execution': id },
        about: { 'new.pi': about, 'new.execution': about },
      }
    },
  ],
  ended: [ended(null), ended('acme')],
  attached: [attached],
  deployment: [deployed(null), deployed('acme')],
  deploymentAcme: [deployed('acme')],
  versions: [versions(['acme', 'globex', 'globex', null])],
  batch: [batch, batchAcme],
  signal: [signalled],
  identity: [identity('new')],
  membership: [membership],
  filter: [filter],
  record: [record],
  decided: [decided],
} as const satisfies Readonly<Record<string, readonly Recipe[]>>

export type RecipeName = keyof typeof RECIPES

/** The kinds of entities that remain after a request has changed the result of a recipe. */
export const REMAINS: Readonly<Record<RecipeName, readonly Left[]>> = {
  task: ['instance', 'task'],
  instance: ['instance'],
  office: ['instance'],
  waiting: ['instance'],
  job: ['instance'],
  timer: ['instance'],
  extern: ['instance'],
  incident: ['instance'],
  moving: ['instance'],
  ended: ['instance'],
  attached: ['instance'],
  deployment: ['deployment'],
  deploymentAcme: ['deployment'],
  versions: ['deployment'],
  batch: ['batch', 'instance'],
  signal: ['instance'],
  identity: ['user', 'group', 'tenant'],
  membership: ['user', 'group', 'tenant'],
  filter: ['filter'],
  record: ['auth'],
  decided: [],
}
