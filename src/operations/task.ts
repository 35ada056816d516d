import type { Rowset } from './table.ts'

/** Task: 22 operations of the published API, sorted by path, then method. */
export const task = {
  getTasks: {
    route: 'GET /task',
    query: 'TaskQuery',
    expressions: 'refused',
    checks: [],
    rows: {
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    retry: 'always',
  },
  queryTasks: {
    route: 'POST /task',
    body: 'TaskQueryDto',
    query: 'Paging',
    expressions: 'refused',
    checks: [],
    rows: {
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    retry: 'always',
  },
  getTask: {
    route: 'GET /task/:id',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 404 },
    ],
    retry: 'always',
    absent: '404 InvalidRequestException: No matching task with id {id}',
  },
  updateTask: {
    route: 'PUT /task/:id',
    body: 'TaskDto',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 404 },
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '404 InvalidRequestException: No matching task with id {id}',
  },
  deleteTask: {
    route: 'DELETE /task/:id',
    checks: [{ anyOf: ['TASK.DELETE path:id'], denied: 403 }],
  },
  setAssignee: {
    route: 'POST /task/:id/assignee',
    checks: [
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
  },
  handleBpmnError: {
    route: 'POST /task/:id/bpmnError',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '404 RestException 0: Cannot find task with id {id}: task is null',
  },
  handleEscalation: {
    route: 'POST /task/:id/bpmnEscalation',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '404 RestException 0: Cannot find task with id {id}: task is null',
  },
  claim: {
    route: 'POST /task/:id/claim',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '500 NullValueException 0: Cannot find task with id {id}: task is null',
  },
  complete: {
    route: 'POST /task/:id/complete',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '500 RestException 0: Cannot complete task {id}: Cannot find task with id {id}: task is null',
  },
  delegateTask: {
    route: 'POST /task/:id/delegate',
    checks: [
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '500 NullValueException 0: Cannot find task with id {id}: task is null',
  },
  getDeployedForm: {
    route: 'GET /task/:id/deployed-form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 'plain' },
    ],
    retry: 'always',
    absent: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.persistence.entity.TaskEntity.getId()" because "task" is null',
  },
  getForm: {
    route: 'GET /task/:id/form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: '400 RestException 0: Cannot get form for task {id}',
  },
  getFormVariables: {
    route: 'GET /task/:id/form-variables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: "400 BadUserRequestException 0: Cannot find task with id '{id}'.: task is null",
  },
  getRenderedForm: {
    route: 'GET /task/:id/rendered-form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
    absent: "500 NullValueException 0: Task '{id}' not found: task is null",
  },
  resolve: {
    route: 'POST /task/:id/resolve',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '500 NullValueException 0: Cannot find task with id {id}: task is null',
  },
  submit: {
    route: 'POST /task/:id/submit-form',
    checks: [
      { anyOf: [
        'TASK.TASK_WORK path:id',
        'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '500 RestException 0: Cannot submit task form {id}: Cannot find task with id {id}: task is null',
  },
  unclaim: {
    route: 'POST /task/:id/unclaim',
    checks: [
      { anyOf: [
        'TASK.TASK_ASSIGN path:id',
        'PROCESS_DEFINITION.TASK_ASSIGN task.processDefinitionKey',
        'TASK.UPDATE path:id',
        'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
      ], denied: 403 },
    ],
    absent: '400 NotFoundException 0: Cannot find task with id {id}: task is null',
  },
  getTasksCount: {
    route: 'GET /task/count',
    query: 'TaskQuery',
    expressions: 'refused',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    retry: 'always',
  },
  queryTasksCount: {
    route: 'POST /task/count',
    body: 'TaskQueryDto',
    expressions: 'refused',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    retry: 'always',
  },
  createTask: {
    route: 'POST /task/create',
    checks: [{ anyOf: ['TASK.CREATE'], denied: 403 }],
  },
  getTaskCountByCandidateGroup: {
    route: 'GET /task/report/candidate-group-count',
    checks: [{ anyOf: ['TASK.READ *'], denied: 403 }],
    retry: 'always',
  },
} as const satisfies Rowset
