import { timeOf } from './data.ts'
import type { StoredItem, Task } from './data.ts'
import { RestError, json } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { among, equals, ofTenants, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post } from './router.ts'
import type { Route } from './router.ts'

export const historyRoutes: readonly Route[] = [
  get('/history/decision-instance', (ask) =>
    json(page(ask, findDecisions(ask)).map((row) => shown(ask, row))),
  ),
  get('/history/decision-instance/count', (ask) => json({ count: findDecisions(ask).length })),
  get('/history/decision-instance/:id', decisionInstance),
  get('/history/external-task-log', (ask) => json(page(ask, findLog(ask, queryOf(ask))))),
  post('/history/external-task-log', (ask) => json(page(ask, findLog(ask, ask.body)))),
  get('/history/identity-link-log', (ask) => json(page(ask, findLinks(ask)))),
  get('/history/identity-link-log/count', (ask) => json({ count: findLinks(ask).length })),
  get('/history/task', (ask) => json(page(ask, findTasks(ask)).map(historicTaskOf))),
  { ...post('/history/cleanup', cleanup), takesBody: false },
]

const decisionTests: Tests<StoredItem> = {
  ...equals<StoredItem>({
    decisionInstanceId: 'id',
    decisionDefinitionId: 'decisionDefinitionId',
    decisionDefinitionKey: 'decisionDefinitionKey',
  }),
  ...among<StoredItem>({
    decisionInstanceIdIn: 'id',
    decisionDefinitionIdIn: 'decisionDefinitionId',
    decisionDefinitionKeyIn: 'decisionDefinitionKey',
  }),
  ...ofTenants(),
}

function findDecisions(ask: SandboxRequest): StoredItem[] {
  return select(ask.engine.decisionInstances.values(), queryOf(ask), decisionTests)
}

function decisionInstance(ask: SandboxRequest): SandboxResponse {
  const { id = '' } = ask.params
  const row = ask.engine.decisionInstances.get(id)
  if (row !== undefined) return json(shown(ask, row))
  const message = `Historic decision instance with id '${id}' does not exist`
  throw new RestError(404, 'InvalidRequestException', message)
}

/** Returns an item of the history. Inputs and outputs are included only if the query requests them. */
function shown(ask: SandboxRequest, row: StoredItem): JsonObject {
  const { inputs, outputs, ...members } = row
  return {
    ...members,
    ...(ask.query.get('includeInputs') === 'true' ? { inputs } : {}),
    ...(ask.query.get('includeOutputs') === 'true' ? { outputs } : {}),
  }
}

const logTests: Tests<StoredItem> = {
  ...equals<StoredItem>({
    logId: 'id',
    externalTaskId: 'externalTaskId',
    topicName: 'topicName',
    workerId: 'workerId',
    processInstanceId: 'processInstanceId',
    processDefinitionId: 'processDefinitionId',
    processDefinitionKey: 'processDefinitionKey',
    creationLog: 'creationLog',
    failureLog: 'failureLog',
    successLog: 'successLog',
    deletionLog: 'deletionLog',
  }),
  ...among<StoredItem>({ activityIdIn: 'activityId', executionIdIn: 'executionId' }),
  ...ofTenants(),
}

function findLog(ask: SandboxRequest, query: JsonObject): StoredItem[] {
  return select(ask.engine.externalTaskLog, query, logTests)
}

const linkTests: Tests<StoredItem> = {
  ...equals<StoredItem>({
    type: 'type',
    userId: 'userId',
    groupId: 'groupId',
    taskId: 'taskId',
    processDefinitionId: 'processDefinitionId',
    processDefinitionKey: 'processDefinitionKey',
    operationType: 'operationType',
  }),
  ...ofTenants(),
}

function findLinks(ask: SandboxRequest): StoredItem[] {
  return select(ask.engine.identityLinkLog, queryOf(ask), linkTests)
}

/** Returns the open tasks with links to a user or group. The sandbox does not keep finished tasks. */
function findTasks(ask: SandboxRequest): Task[] {
  const { tasks, identityLinkLog } = ask.engine
  const isLinked = ({ id }: Task, member: 'userId' | 'groupId', value: unknown) =>
    identityLinkLog.some((link) => link['taskId'] === id && link[member] === value)
  return select(tasks.values(), queryOf(ask), {
    unfinished: () => true,
    taskInvolvedUser: (task, value) => isLinked(task, 'userId', value),
    taskInvolvedGroup: (task, value) => isLinked(task, 'groupId', value),
  })
}

/** Returns an open task as an item of the history. */
function historicTaskOf(task: Task): JsonObject {
  return {
    id: task.id,
    processDefinitionKey: task.processDefinitionId?.split(':')[0] ?? null,
    processDefinitionId: task.processDefinitionId,
    processInstanceId: task.processInstanceId,
    executionId: task.executionId,
    caseDefinitionKey: null,
    caseDefinitionId: null,
    caseInstanceId: task.caseInstanceId,
    caseExecutionId: null,
    activityInstanceId: null,
    name: task.name,
    description: task.description,
    deleteReason: null,
    owner: task.owner,
    assignee: task.assignee,
    startTime: task.created,
    endTime: null,
    duration: null,
    taskDefinitionKey: task.taskDefinitionKey,
    priority: task.priority,
    due: task.due,
    parentTaskId: task.parentTaskId,
    followUp: task.followUp,
    tenantId: task.tenantId,
    removalTime: null,
    rootProcessInstanceId: task.processInstanceId,
    taskState: 'Created',
  }
}

/** Schedules the history clean-up. There is only one job. Another request makes the same job due again. */
function cleanup({ engine }: SandboxRequest): SandboxResponse {
  const now = timeOf(Date.now())
  engine.cleanup ??= { id: engine.nextId(), createTime: now }
  const { id, createTime } = engine.cleanup
  return json({
    id,
    jobDefinitionId: null,
    processInstanceId: null,
    processDefinitionId: null,
    processDefinitionKey: null,
    executionId: null,
    exceptionMessage: null,
    failedActivityId: null,
    retries: 3,
    dueDate: now,
    suspended: false,
    priority: 0,
    tenantId: null,
    createTime,
    batchId: null,
  })
}
