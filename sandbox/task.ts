import { timeOf } from './data.ts'
import type { Engine, Task } from './data.ts'
import { RestError, json, nothing } from './http.ts'
import type { SandboxRequest, JsonObject, SandboxResponse } from './http.ts'
import { among, equals, listOf, page, queryOf, select } from './query.ts'
import type { Tests } from './query.ts'
import { get, post, put } from './router.ts'
import type { Route } from './router.ts'
import { assign, leave } from './runtime.ts'
import { variablesOf } from './variables.ts'

export const taskRoutes: readonly Route[] = [
  get('/task', (ask) => vary(json(page(ask, find(ask, queryOf(ask))).map(bodyOf)))),
  post('/task', (ask) => json(page(ask, find(ask, ask.body)).map(bodyOf))),
  get('/task/count', (ask) => json({ count: find(ask, queryOf(ask)).length })),
  post('/task/count', (ask) => json({ count: find(ask, ask.body).length })),
  get('/task/report/candidate-group-count', (ask) => vary(json(groupCountsOf(ask.engine)))),
  get('/task/:id', (ask) => vary(json(bodyOf(taskOf(ask))))),
  put('/task/:id', update),
  get('/task/:id/identity-links', (ask) => json(linksOf(taskOf(ask)))),
  post('/task/:id/claim', claim),
  post('/task/:id/complete', complete),
]

/** Adds `Vary: Accept`, which the engine sends with responses that also exist in HAL. */
function vary(reply: SandboxResponse): SandboxResponse {
  return { ...reply, headers: { Vary: 'Accept', ...reply.headers } }
}

function taskOf(ask: SandboxRequest): Task {
  const { id = '' } = ask.params
  const task = ask.engine.tasks.get(id)
  if (task !== undefined) return task
  throw new RestError(404, 'InvalidRequestException', `No matching task with id ${id}`)
}

function bodyOf(task: Task): JsonObject {
  const { candidateGroups: _, ...members } = task
  const fixed = { caseExecutionId: null, caseDefinitionId: null, suspended: false, formKey: null }
  const taskState = task.lastUpdated === null ? 'Created' : 'Updated'
  return { ...members, ...fixed, camundaFormRef: null, taskState }
}

/** Updates a task. An absent member is set to null, as in the engine. */
function update(ask: SandboxRequest): SandboxResponse {
  const task = taskOf(ask)
  const text = (name: string) => stringOrNull(ask.body[name])
  assign(ask.engine, task, text('assignee'))
  task.name = text('name')
  task.description = text('description')
  task.owner = text('owner')
  task.due = text('due')
  task.followUp = text('followUp')
  task.delegationState = text('delegationState')
  task.parentTaskId = text('parentTaskId')
  task.caseInstanceId = text('caseInstanceId')
  task.tenantId = text('tenantId') ?? task.tenantId
  task.priority = Number(ask.body['priority'] ?? 0)
  task.lastUpdated = timeOf(Date.now())
  return nothing()
}

/** Claims a task for the user that the body names. If the body names no user, the task becomes unassigned. */
function claim(ask: SandboxRequest): SandboxResponse {
  const task = taskToChange(ask, 'NullValueException', '')
  const userId = stringOrNull(ask.body['userId'])
  if (userId !== null && task.assignee !== null && task.assignee !== userId) {
    const message = `Task '${task.id}' is already claimed by someone else.`
    throw new RestError(500, 'TaskAlreadyClaimedException', message, 0)
  }
  assign(ask.engine, task, userId)
  task.lastUpdated = timeOf(Date.now())
  return nothing()
}

/** Completes a task, and ends its execution. */
function complete(ask: SandboxRequest): SandboxResponse {
  const doing = `Cannot complete task ${ask.params['id'] ?? ''}`
  const task = taskToChange(ask, 'RestException', `${doing}: `)
  const variables = variablesOf(ask.body['variables'], doing)
  const { engine } = ask
  engine.tasks.delete(task.id)
  const execution = engine.executions.get(task.executionId ?? '')
  if (execution !== undefined) leave(engine, execution, variables)
  return nothing()
}

/** Returns the task of a request that changes it. If the task is missing, the error differs from the error of a read. */
function taskToChange({ engine, params }: SandboxRequest, type: string, doing: string): Task {
  const { id = '' } = params
  const task = engine.tasks.get(id)
  if (task !== undefined) return task
  throw new RestError(500, type, `${doing}Cannot find task with id ${id}: task is null`, 0)
}

function stringOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function linksOf(task: Task): JsonObject[] {
  const groups = task.candidateGroups.map((groupId) => ({ userId: null, groupId, type: 'candidate' }))
  return task.assignee === null
    ? groups
    : [...groups, { userId: task.assignee, groupId: null, type: 'assignee' }]
}

/** Returns the number of unassigned tasks for each candidate group. The group null counts tasks without a candidate group. */
function groupCountsOf(engine: Engine): JsonObject[] {
  const counts = new Map<string | null, number>()
  for (const { assignee, candidateGroups } of engine.tasks.values()) {
    if (assignee !== null) continue
    const groups = candidateGroups.length === 0 ? [null] : candidateGroups
    for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  const rows = [...counts].map(([groupName, taskCount]) => ({ groupName, taskCount }))
  return rows.sort((a, b) => (a.groupName ?? '').localeCompare(b.groupName ?? ''))
}

const tests: Tests<Task> = {
  ...equals<Task>({
    taskId: 'id',
    name: 'name',
    assignee: 'assignee',
    owner: 'owner',
    priority: 'priority',
    executionId: 'executionId',
    processInstanceId: 'processInstanceId',
    processDefinitionId: 'processDefinitionId',
    taskDefinitionKey: 'taskDefinitionKey',
    delegationState: 'delegationState',
    parentTaskId: 'parentTaskId',
  }),
  ...among<Task>({
    taskIdIn: 'id',
    assigneeIn: 'assignee',
    processInstanceIdIn: 'processInstanceId',
    taskDefinitionKeyIn: 'taskDefinitionKey',
    tenantIdIn: 'tenantId',
  }),
  processDefinitionKey: (task, value) => definitionKeyOf(task) === value,
  processDefinitionKeyIn: (task, value) => listOf(value).includes(definitionKeyOf(task)),
  assigned: (task) => task.assignee !== null,
  unassigned: (task) => task.assignee === null,
  withoutTenantId: (task) => task.tenantId === null,
  candidateGroup: (task, value, query) => isOpen(task, query) && isFor(task, [value]),
  candidateGroups: (task, value, query) => isOpen(task, query) && isFor(task, listOf(value)),
  withCandidateGroups: (task, _, query) => isOpen(task, query) && task.candidateGroups.length > 0,
  withoutCandidateGroups: (task) => task.candidateGroups.length === 0,
  // No task of the sandbox has a candidate user, and its users have no groups.
  candidateUser: () => false,
  involvedUser: (task, value) => task.assignee === value || task.owner === value,
  suspended: () => false,
}

function find(ask: SandboxRequest, query: JsonObject): Task[] {
  const { instances, tasks } = ask.engine
  const businessKey = (task: Task) => instances.get(task.processInstanceId ?? '')?.businessKey ?? null
  return select(tasks.values(), query, {
    ...tests,
    processInstanceBusinessKey: (task, value) => businessKey(task) === value,
  })
}

function definitionKeyOf(task: Task): string | undefined {
  return task.processDefinitionId?.split(':')[0]
}

/** Returns true if a query for candidates includes the task: only unassigned tasks, unless the query has `includeAssignedTasks`. */
function isOpen(task: Task, query: JsonObject): boolean {
  return task.assignee === null || String(query['includeAssignedTasks']) === 'true'
}

function isFor(task: Task, groups: readonly unknown[]): boolean {
  return task.candidateGroups.some((group) => groups.includes(group))
}
