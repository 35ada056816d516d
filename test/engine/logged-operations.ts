import { type Admin, idOf, type Json, rowsOf, textOf } from '../differential/admin.ts'
import * as models from '../differential/models.ts'
import { formOf } from '../differential/world.ts'

/** A request whose execution writes entries of the operation log. */
type Logged = readonly [method: 'DELETE' | 'POST' | 'PUT', path: string, body?: unknown]

/** The keys with a definition of no tenant and one of a tenant. */
const KEYS = ['office', 'mail', 'external']

/** Executes operations on one thing and on several things in the world of the differential run, with and without tenants. */
export async function executeLoggedOperations(admin: Admin): Promise<void> {
  const ids = async (path: string) => rowsOf(await admin.call('GET', path)).map((item) => textOf(item, 'id'))
  const execute = async (operations: readonly Logged[]) => {
    for (const [method, path, body] of operations) await admin.call(method, path, body)
  }
  await execute(onExternalTasks(await ids('/external-task')))
  await execute(KEYS.flatMap(onKey))
  for (const key of KEYS) await execute((await ids(`/process-definition?key=${key}`)).flatMap(onDefinition))
  await execute((await ids('/job-definition')).flatMap(onJobDefinition))
  await execute(onJobs(await ids('/job')))
  const mails = await ids('/process-instance?processDefinitionKey=mail')
  await execute([['POST', '/process-instance/job-retries', { processInstances: mails, retries: 1 }]])
  for (const definitionId of await ids('/process-definition?key=office'))
    await execute(
      onInstances(definitionId, await ids(`/process-instance?processDefinitionId=${definitionId}`)),
    )
  await executeRestarts(admin)
  await executeMigrations(admin, await ids('/process-instance?processDefinitionKey=moving'))
  await execute(
    onHistory({
      instances: await ids('/history/process-instance?finished=true'),
      decisions: await ids('/history/decision-instance'),
      batches: await ids('/history/batch'),
    }),
  )
  await execute((await ids('/batch')).flatMap(onBatch))
  await execute((await ids('/incident')).flatMap(onIncident))
  for (const id of await ids('/decision-definition'))
    await execute([['PUT', `/decision-definition/${id}/history-time-to-live`, { historyTimeToLive: 5 }]])
  await executeBeforeDeletion(admin)
  for (const entry of entriesOfKinds(rowsOf(await admin.call('GET', '/history/user-operation'))))
    await execute([
      [
        'PUT',
        `/history/user-operation/${textOf(entry, 'operationId')}/set-annotation`,
        { annotation: 'read' },
      ],
    ])
}

/**
 * Returns an entry of each kind: of each type of operation and of things, and of each deployment. Operations with entries of several
 * definitions are left out: an engine that annotates one looks at any of its entries.
 */
export function entriesOfKinds(entries: readonly Json[]): readonly Json[] {
  const definitions = new Map<unknown, Set<unknown>>()
  for (const { operationId, processDefinitionId } of entries)
    definitions.set(operationId, (definitions.get(operationId) ?? new Set()).add(processDefinitionId))
  const compared = entries.filter(({ operationId }) => definitions.get(operationId)?.size === 1)
  return [...new Map(compared.map((entry) => [kindOf(entry), entry])).values()]
}

function kindOf({ entityType, operationType, deploymentId }: Json): string {
  return JSON.stringify(deploymentId === null ? [entityType, operationType] : [deploymentId])
}

function onExternalTasks(externalTaskIds: readonly string[]): readonly Logged[] {
  return [
    ['PUT', '/external-task/retries', { externalTaskIds, retries: 5 }],
    ['POST', '/external-task/retries-async', { externalTaskIds, retries: 6 }],
    ...externalTaskIds.flatMap((id): Logged[] => [
      ['PUT', `/external-task/${id}/retries`, { retries: 7 }],
      ['PUT', `/external-task/${id}/priority`, { priority: 8 }],
    ]),
  ]
}

function onKey(processDefinitionKey: string): readonly Logged[] {
  const changes = [true, false].flatMap((suspended) => [
    { processDefinitionKey, suspended },
    { processDefinitionKey, processDefinitionTenantId: 'acme', suspended },
  ])
  return ['/process-instance', '/job-definition', '/job', '/process-definition'].flatMap((path) =>
    changes.map((body): Logged => ['PUT', `${path}/suspended`, body]),
  )
}

function onDefinition(id: string): readonly Logged[] {
  return [
    ...[true, false].flatMap((suspended): Logged[] => [
      ['PUT', '/process-instance/suspended', { processDefinitionId: id, suspended }],
      ['PUT', '/job-definition/suspended', { processDefinitionId: id, suspended }],
      ['PUT', '/job/suspended', { processDefinitionId: id, suspended }],
      ['PUT', `/process-definition/${id}/suspended`, { suspended }],
    ]),
    ['PUT', `/process-definition/${id}/history-time-to-live`, { historyTimeToLive: 5 }],
  ]
}

/** Also the definitions of the jobs of batches, which belong to no process definition. */
function onJobDefinition(id: string): readonly Logged[] {
  return [
    ['PUT', `/job-definition/${id}/retries`, { retries: 4 }],
    ['PUT', `/job-definition/${id}/jobPriority`, { priority: 4, includeJobs: true }],
    ...[true, false].flatMap((suspended): Logged[] => [
      ['PUT', `/job-definition/${id}/suspended`, { suspended, includeJobs: true }],
      ['PUT', '/job/suspended', { jobDefinitionId: id, suspended }],
    ]),
  ]
}

function onJobs(jobIds: readonly string[]): readonly Logged[] {
  return [
    ['POST', '/job/retries', { jobIds, retries: 2 }],
    ...jobIds.flatMap((id): Logged[] => [
      ['PUT', `/job/${id}/retries`, { retries: 3 }],
      ['PUT', `/job/${id}/priority`, { priority: 3 }],
      ['PUT', `/job/${id}/duedate`, { duedate: null }],
      ['PUT', `/job/${id}/suspended`, { suspended: true }],
      ['PUT', `/job/${id}/suspended`, { suspended: false }],
    ]),
  ]
}

function onInstances(processDefinitionId: string, processInstanceIds: readonly string[]): readonly Logged[] {
  const instructions = [{ type: 'startBeforeActivity', activityId: 'desk' }]
  const variables = { more: { value: 'x' } }
  const [id = ''] = processInstanceIds
  return [
    ['PUT', '/process-instance/suspended', { processInstanceIds, suspended: true }],
    ['PUT', '/process-instance/suspended', { processInstanceIds, suspended: false }],
    ['POST', '/process-instance/suspended-async', { processInstanceIds, suspended: true }],
    ['POST', '/process-instance/variables-async', { processInstanceIds, variables }],
    ['POST', '/process-instance/message-async', { processInstanceIds, messageName: 'paid' }],
    ['POST', '/process-instance/delete', { processInstanceIds, deleteReason: 'x' }],
    ['POST', '/modification/execute', { processDefinitionId, processInstanceIds, instructions }],
    ['POST', '/modification/executeAsync', { processDefinitionId, processInstanceIds, instructions }],
    ['POST', `/process-instance/${id}/modification`, { instructions }],
    ['POST', `/process-instance/${id}/modification-async`, { instructions }],
    ['PUT', `/process-instance/${id}/variables/more`, { value: 1 }],
    ['PUT', `/process-instance/${id}/suspended`, { suspended: true }],
    ['PUT', `/process-instance/${id}/suspended`, { suspended: false }],
  ]
}

async function executeRestarts({ call }: Admin): Promise<void> {
  for (const definition of rowsOf(await call('GET', '/process-definition?key=office'))) {
    const path = `/process-definition/${textOf(definition, 'id')}`
    const id = idOf(await call('POST', `${path}/start`, {}))
    await call('DELETE', `/process-instance/${id}`)
    const instructions = [{ type: 'startBeforeActivity', activityId: 'desk' }]
    await call('POST', `${path}/restart`, { processInstanceIds: [id], instructions })
    await call('POST', `${path}/restart-async`, { processInstanceIds: [id], instructions })
  }
}

async function executeMigrations({ call }: Admin, processInstanceIds: readonly string[]): Promise<void> {
  const versions = rowsOf(await call('GET', '/process-definition?key=moving&sortBy=version&sortOrder=asc'))
  const [sourceProcessDefinitionId, targetProcessDefinitionId] = versions.map((item) => textOf(item, 'id'))
  const migrationPlan = await call('POST', '/migration/generate', {
    sourceProcessDefinitionId,
    targetProcessDefinitionId,
  })
  await call('POST', '/migration/executeAsync', { migrationPlan, processInstanceIds })
  await call('POST', '/migration/execute', { migrationPlan, processInstanceIds })
}

interface HistoricIds {
  readonly instances: readonly string[]
  readonly decisions: readonly string[]
  readonly batches: readonly string[]
}

function onHistory({ instances, decisions, batches }: HistoricIds): readonly Logged[] {
  const clearedRemovalTime = true
  const path = '/history/process-instance'
  return [
    ['POST', `${path}/set-removal-time`, { historicProcessInstanceIds: instances, clearedRemovalTime }],
    [
      'POST',
      '/history/decision-instance/set-removal-time',
      { historicDecisionInstanceIds: decisions, clearedRemovalTime },
    ],
    ['POST', '/history/batch/set-removal-time', { historicBatchIds: batches, clearedRemovalTime }],
    ['POST', `${path}/delete`, { historicProcessInstanceIds: instances }],
    ['POST', '/history/decision-instance/delete', { historicDecisionInstanceIds: decisions.slice(0, 1) }],
    ['POST', '/history/cleanup?immediatelyDue=false'],
  ]
}

function onBatch(id: string): readonly Logged[] {
  return [
    ['PUT', `/batch/${id}/suspended`, { suspended: true }],
    ['PUT', `/batch/${id}/suspended`, { suspended: false }],
  ]
}

function onIncident(id: string): readonly Logged[] {
  return [
    ['PUT', `/incident/${id}/annotation`, { annotation: 'seen' }],
    ['DELETE', `/incident/${id}/annotation`],
  ]
}

/** Deletes definitions of a tenant and of none, whose instances remain in the history. */
async function executeBeforeDeletion({ call, upload }: Admin): Promise<void> {
  for (const owner of [{}, { tenant: 'acme' }]) {
    const form = formOf({ name: 'gone', ...owner, files: { 'gone.bpmn': models.job('gone', '${true}') } })
    await upload('/deployment/create', form)
  }
  for (const definition of rowsOf(await call('GET', '/process-definition?key=gone'))) {
    const path = `/process-definition/${textOf(definition, 'id')}`
    const processInstanceId = idOf(await call('POST', `${path}/start`, {}))
    await call('PUT', '/job/suspended', { processInstanceId, suspended: true })
    await call('DELETE', `/process-instance/${processInstanceId}`)
    await call('DELETE', path)
  }
}
