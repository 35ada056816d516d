import { listOperations } from '../list-operations.ts'
import { ASSIGN_TASK, READ_TASK, WORK_ON_TASK } from '../common-permissions.ts'
import type { Tag } from '../table.ts'

/** Task: 22 operations of the published API. */
export const task = [
  listOperations({
    path: '/task',
    operations: {
      GET: { id: 'getTasks', query: 'TaskQuery', accept: 'hal', handler: 'added variables' },
      POST: { id: 'queryTasks', body: 'TaskQueryDto', handler: 'added variables' },
      'GET count': { id: 'getTasksCount', query: 'TaskQuery' },
      'POST count': { id: 'queryTasksCount', body: 'TaskQueryDto' },
    },
    expressions: 'checked',
    items: {
      anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
      exempt: 'case',
      prefilter: 'task query',
    },
  }),
  {
    getTask: {
      route: 'GET /task/:id',
      accept: 'hal',
      handler: 'added variables',
      checks: [
        { anyOf: READ_TASK, denied: 404, foundBy: 'query' },
        // Camunda 7.23 and later, Operaton: the variables are read by a command of their own.
        { anyOf: READ_TASK, when: 'query:withTaskVariablesInReturn is true', denied: 403, reads: 'variables' },
        { anyOf: READ_TASK, when: 'query:withTaskLocalVariablesInReturn is true', denied: 403, reads: 'variables' },
      ],
      notFound: '404 InvalidRequestException: No matching task with id {id}',
    },
    updateTask: {
      route: 'PUT /task/:id',
      body: 'TaskDto',
      checks: [
        { name: 'read', anyOf: READ_TASK, denied: 404, foundBy: 'query' },
        { anyOf: ASSIGN_TASK, denied: 403 },
      ],
      notFound: '404 InvalidRequestException: No matching task with id {id}',
      preconditions: [
        { when: 'body:tenantId of another tenant', denied: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.", afterPermission: true },
      ],
    },
    deleteTask: {
      route: 'DELETE /task/:id',
      body: 'none',
      checks: [{ anyOf: ['TASK.DELETE path:id'], denied: 403 }],
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete the task '{id}' because it belongs to no authenticated tenant.",
      notFound: '204',
      loads: 'task',
      preconditions: [
        { when: 'the task belongs to a process', denied: '500 ProcessEngineException 0: The task cannot be deleted because is part of a running process' },
        { when: 'the task belongs to a case', denied: '500 ProcessEngineException 0: The task cannot be deleted because is part of a running case instance' },
      ],
    },
    setAssignee: {
      route: 'POST /task/:id/assignee',
      checks: [{ anyOf: ASSIGN_TASK, denied: 403 }],
      notFound: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.",
    },
    handleBpmnError: {
      route: 'POST /task/:id/bpmnError',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '404 RestException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    handleEscalation: {
      route: 'POST /task/:id/bpmnEscalation',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '404 RestException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    claim: {
      route: 'POST /task/:id/claim',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '500 NullValueException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    complete: {
      route: 'POST /task/:id/complete',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '500 RestException 0: Cannot complete task {id}: Cannot find task with id {id}: task is null',
      crossTenant: "500 RestException 0: Cannot complete task {id}: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    delegateTask: {
      route: 'POST /task/:id/delegate',
      checks: [{ anyOf: ASSIGN_TASK, denied: 403 }],
      notFound: '500 NullValueException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.",
    },
    getDeployedForm: {
      route: 'GET /task/:id/deployed-form',
      checks: [{ anyOf: READ_TASK, denied: 'plain' }],
      notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.TaskEntity.getId()" because "task" is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
    },
    getForm: {
      route: 'GET /task/:id/form',
      checks: [
        { anyOf: READ_TASK, reads: 'variables', denied: 403 },
        // The engine also reads the task by a query. With `enforceSpecificVariablePermission`, a caller may be permitted to read the form but not to see the task.
        {
          anyOf: READ_TASK,
          denied: 'absent',
          foundBy: 'query',
          notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.task.Task.getProcessDefinitionId()" because "task" is null',
        },
      ],
      notFound: '400 RestException 0: Cannot get form for task {id}',
    },
    getFormVariables: {
      route: 'GET /task/:id/form-variables',
      checks: [{ anyOf: READ_TASK, reads: 'variables', denied: 403 }],
      notFound: "400 BadUserRequestException 0: Cannot find task with id '{id}'.: task is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
    },
    getRenderedForm: {
      route: 'GET /task/:id/rendered-form',
      checks: [{ anyOf: READ_TASK, reads: 'variables', denied: 403 }],
      notFound: "500 NullValueException 0: Task '{id}' not found: task is null",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the task '{id}' because it belongs to no authenticated tenant.",
    },
    resolve: {
      route: 'POST /task/:id/resolve',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '500 NullValueException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    submit: {
      route: 'POST /task/:id/submit-form',
      checks: [{ anyOf: WORK_ON_TASK, denied: 403 }],
      notFound: '500 RestException 0: Cannot submit task form {id}: Cannot find task with id {id}: task is null',
      crossTenant: "500 RestException 0: Cannot submit task form {id}: ENGINE-13034 Cannot work on task '{id}' because it belongs to no authenticated tenant.",
    },
    unclaim: {
      route: 'POST /task/:id/unclaim',
      body: 'none',
      checks: [{ anyOf: ASSIGN_TASK, denied: 403 }],
      notFound: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot assign the task '{id}' because it belongs to no authenticated tenant.",
    },
    createTask: {
      route: 'POST /task/create',
      creates: 'body:id',
      checks: [{ anyOf: ['TASK.CREATE'], denied: 403 }],
      preconditions: [
        { when: 'body:tenantId of another tenant', denied: "500 ProcessEngineException 0: ENGINE-13034 Cannot create the task '{id}' because it belongs to no authenticated tenant.", afterPermission: true },
      ],
    },
    getTaskCountByCandidateGroup: {
      route: 'GET /task/report/candidate-group-count',
      accept: 'csv',
      checks: [{ anyOf: ['TASK.READ *'], denied: 403 }],
      items: { form: 'group counts', anyOf: ['TASK.READ *'] },
    },
  },
] satisfies Tag
