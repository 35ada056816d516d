import { timeOf } from './data.ts'
import type { Engine, Execution, Instance, ProcessDefinition, StoredItem, Task, Variable } from './data.ts'
import type { Activity } from './models.ts'

interface Start {
  readonly businessKey?: string | null
  readonly variables?: Map<string, Variable>
}

/** Starts an instance, which then waits in every activity of its model. */
export function startInstance(engine: Engine, definition: ProcessDefinition, start: Start = {}): Instance {
  const instance: Instance = {
    id: engine.nextId(),
    definitionId: definition.id,
    definitionKey: definition.key,
    businessKey: start.businessKey ?? null,
    tenantId: definition.tenantId,
    startTime: timeOf(Date.now()),
    endTime: null,
    variables: start.variables ?? new Map(),
  }
  engine.instances.set(instance.id, instance)
  const activities = definition.model.activities
  for (const activity of activities) {
    // As in the engine, a single user task waits in the execution of the instance. All other activities have child executions.
    const isLone = activities.length === 1 && activity.kind === 'user'
    const id = isLone ? instance.id : engine.nextId()
    const { tenantId } = instance
    const execution = { id, processInstanceId: instance.id, activityId: activity.id, tenantId }
    engine.executions.set(id, execution)
    wait(engine, instance, { execution, activity })
  }
  return instance
}

interface WaitingActivity {
  readonly execution: Execution
  readonly activity: Activity
}

function wait(engine: Engine, instance: Instance, { execution, activity }: WaitingActivity): void {
  switch (activity.kind) {
    case 'user': {
      const { id: taskDefinitionKey, name, groups: candidateGroups, assignee } = activity
      const { definitionId: processDefinitionId, id: processInstanceId, tenantId } = instance
      const place = { executionId: execution.id, processDefinitionId, processInstanceId, taskDefinitionKey }
      createTask(engine, { ...place, name, candidateGroups, assignee, tenantId, priority: 50 })
      return
    }
    case 'external':
      createExternalTask(engine, instance, { execution, activity })
      return
    case 'receive':
      return
    case 'signal':
    case 'message': {
      const { id: executionId, processInstanceId, activityId, tenantId } = execution
      const event = { eventType: activity.kind, eventName: activity.event, createdDate: timeOf(Date.now()) }
      const id = engine.nextId()
      engine.subscriptions.set(id, { id, ...event, executionId, processInstanceId, activityId, tenantId })
    }
  }
}

export function createTask(engine: Engine, members: Partial<Omit<Task, 'id' | 'created'>>): Task {
  const task: Task = {
    id: engine.nextId(),
    name: null,
    assignee: null,
    created: timeOf(Date.now()),
    due: null,
    followUp: null,
    lastUpdated: null,
    delegationState: null,
    description: null,
    executionId: null,
    owner: null,
    parentTaskId: null,
    priority: 0,
    processDefinitionId: null,
    processInstanceId: null,
    taskDefinitionKey: null,
    caseInstanceId: null,
    tenantId: null,
    candidateGroups: [],
    ...members,
  }
  engine.tasks.set(task.id, task)
  for (const groupId of task.candidateGroups) logLink(engine, task, { type: 'candidate', groupId })
  const { assignee } = task
  task.assignee = null
  assign(engine, task, assignee)
  return task
}

/** Assigns a task to a user, and records the identity link in the history. */
export function assign(engine: Engine, task: Task, userId: string | null): void {
  if (task.assignee !== userId && userId !== null) logLink(engine, task, { type: 'assignee', userId })
  task.assignee = userId
}

interface Link {
  readonly type: 'candidate' | 'assignee'
  readonly userId?: string
  readonly groupId?: string
}

function logLink(engine: Engine, task: Task, link: Link): void {
  engine.identityLinkLog.push({
    id: engine.nextId(),
    time: timeOf(Date.now()),
    type: link.type,
    userId: link.userId ?? null,
    groupId: link.groupId ?? null,
    taskId: task.id,
    processDefinitionId: task.processDefinitionId,
    processDefinitionKey: task.processDefinitionId?.split(':')[0] ?? null,
    operationType: 'add',
    assignerId: null,
    tenantId: task.tenantId,
    removalTime: null,
    rootProcessInstanceId: task.processInstanceId,
  })
}

function createExternalTask(
  engine: Engine,
  instance: Instance,
  { execution, activity }: WaitingActivity,
): void {
  if (activity.kind !== 'external') return
  const shared = {
    activityId: activity.id,
    activityInstanceId: `${activity.id}:${engine.nextId()}`,
    errorMessage: null,
    executionId: execution.id,
    priority: activity.priority,
    processDefinitionId: instance.definitionId,
    processDefinitionKey: instance.definitionKey,
    processInstanceId: instance.id,
    retries: null,
    tenantId: instance.tenantId,
    topicName: activity.topic,
    workerId: null,
  }
  const id = engine.nextId()
  const { businessKey } = instance
  const unlocked = {
    lockExpirationTime: null,
    processDefinitionVersionTag: null,
    suspended: false,
    businessKey,
  }
  engine.externalTasks.set(id, { id, ...shared, ...unlocked })
  engine.externalTaskLog.push(
    logOf(engine, { ...shared, externalTaskId: id, rootProcessInstanceId: instance.id }),
  )
}

function logOf(engine: Engine, shared: Readonly<Record<string, unknown>>): StoredItem {
  const kind = { creationLog: true, failureLog: false, successLog: false, deletionLog: false }
  return { id: engine.nextId(), timestamp: timeOf(Date.now()), removalTime: null, ...shared, ...kind }
}

/** Ends an execution. The instance ends with its last execution. */
export function leave(engine: Engine, execution: Execution, variables: Map<string, Variable>): void {
  const { id, processInstanceId } = execution
  const instance = engine.instances.get(processInstanceId)
  for (const [name, variable] of variables) instance?.variables.set(name, variable)
  engine.executions.delete(id)
  deleteOf(engine.subscriptions, id)
  deleteOf(engine.externalTasks, id)
  const rest = [...engine.executions.values()].some((one) => one.processInstanceId === processInstanceId)
  if (!rest && instance !== undefined) instance.endTime = timeOf(Date.now())
}

function deleteOf(
  rows: Map<string, { readonly id: string; readonly executionId: string }>,
  executionId: string,
) {
  for (const row of rows.values()) if (row.executionId === executionId) rows.delete(row.id)
}
