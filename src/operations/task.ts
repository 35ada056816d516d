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
  },
  getDeployedForm: {
    route: 'GET /task/:id/deployed-form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  getForm: {
    route: 'GET /task/:id/form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  getFormVariables: {
    route: 'GET /task/:id/form-variables',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
  },
  getRenderedForm: {
    route: 'GET /task/:id/rendered-form',
    checks: [
      { anyOf: ['TASK.READ path:id', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'], denied: 403 },
    ],
    retry: 'always',
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
  },
  getTasksCount: {
    route: 'GET /task/count',
    query: 'TaskQuery',
    expressions: 'refused',
    checks: [],
    rows: {
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
