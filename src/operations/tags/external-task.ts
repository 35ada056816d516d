import { listOperations } from '../list-operations.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { OperationEntry, Tag } from '../table.ts'

/** The check of every command that changes one task, and its responses. */
const UPDATE = {
  checks: [{ anyOf: instancePermissions('UPDATE', 'externalTask'), denied: 403 }],
  notFound: '404 RestException 0: External task with id {id} does not exist',
  crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{externalTask.processInstanceId}' because it belongs to no authenticated tenant.",
} as const satisfies Partial<OperationEntry>

/** External Task: 18 operations of the published API. */
export const externalTask = [
  listOperations({
    path: '/external-task',
    operations: {
      GET: 'getExternalTasks',
      POST: 'queryExternalTasks',
      'GET count': 'getExternalTasksCount',
      'POST count': 'queryExternalTasksCount',
    },
    items: {
      anyOf: instancePermissions('READ', 'item'),
      prefilter: 'externalTasks',
    },
  }),
  {
    getExternalTask: {
      route: 'GET /external-task/:id',
      checks: [{ anyOf: instancePermissions('READ', 'externalTask'), denied: 404, foundBy: 'query' }],
      notFound: '404 RestException: External task with id {id} does not exist',
    },
    handleExternalTaskBpmnError: {
      route: 'POST /external-task/:id/bpmnError',
      ...UPDATE,
      preconditions: [
        { when: 'the worker does not hold the task', denied: "400 RestException 0: Bpmn error of External Task {id} cannot be reported by worker '{workerId}'. It is locked by worker '{externalTask.workerId}'." },
      ],
    },
    completeExternalTaskResource: {
      route: 'POST /external-task/:id/complete',
      ...UPDATE,
      preconditions: [
        { when: 'the worker does not hold the task', denied: "400 RestException 0: External Task {id} cannot be completed by worker '{workerId}'. It is locked by worker '{externalTask.workerId}'." },
      ],
    },
    getExternalTaskErrorDetails: {
      route: 'GET /external-task/:id/errorDetails',
      checks: [{ anyOf: instancePermissions('READ', 'externalTask'), denied: 403 }],
      notFound: '500 NullValueException 0: No external task found with id {id}: externalTask is null',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot read the process instance '{externalTask.processInstanceId}' because it belongs to no authenticated tenant.",
    },
    extendLock: {
      route: 'POST /external-task/:id/extendLock',
      newTasks: 'none',
      conflict: 'repeat',
      ...UPDATE,
      preconditions: [
        { when: 'the worker does not hold the task', denied: "400 RestException 0: The lock of the External Task {id} cannot be extended by worker '{workerId}''. It is locked by worker '{externalTask.workerId}'." },
      ],
    },
    handleFailure: {
      route: 'POST /external-task/:id/failure',
      ...UPDATE,
      preconditions: [
        { when: 'the worker does not hold the task', denied: "400 RestException 0: Failure of External Task {id} cannot be reported by worker '{workerId}'. It is locked by worker '{externalTask.workerId}'." },
      ],
    },
    lock: {
      route: 'POST /external-task/:id/lock',
      newTasks: 'none',
      conflict: 'repeat',
      ...UPDATE,
    },
    setExternalTaskResourcePriority: {
      route: 'PUT /external-task/:id/priority',
      conflict: 'repeat',
      ...UPDATE,
    },
    setExternalTaskResourceRetries: {
      route: 'PUT /external-task/:id/retries',
      conflict: 'repeat',
      ...UPDATE,
    },
    unlock: {
      route: 'POST /external-task/:id/unlock',
      body: 'none',
      conflict: 'repeat',
      ...UPDATE,
    },
    fetchAndLock: {
      route: 'POST /external-task/fetchAndLock',
      checks: [],
      items: {
        form: 'locks',
        anyOf: instancePermissions('READ', 'item'),
        and: { anyOf: instancePermissions('UPDATE', 'item') },
      },
      body: 'FetchExternalTasksDto',
      handler: 'long poll',
      newTasks: 'none',
    },
    setExternalTaskRetries: {
      route: 'PUT /external-task/retries',
      conflict: 'repeat',
      checks: [
        { anyOf: instancePermissions('UPDATE', 'each'), each: 'externalTasks', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{each.processInstanceId}' because it belongs to no authenticated tenant." },
      ],
      empty: '400 InvalidRequestException: externalTaskIds is empty',
      selectors: {
        processInstanceIds: 'queryExternalTasks(processInstanceIdIn[]).processInstanceId',
        processInstanceQuery: 'processInstanceIds',
        historicProcessInstanceQuery: 'processInstanceIds',
        externalTaskQuery: 'externalTaskIds',
      },
      notFound: '400 InvalidRequestException: externalTaskIds is empty',
    },
    setExternalTaskRetriesAsyncOperation: {
      route: 'POST /external-task/retries-async',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_EXTERNAL_TASK_RETRIES', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 InvalidRequestException: externalTaskIds is empty',
      selectors: {
        processInstanceIds: 'queryExternalTasks(processInstanceIdIn[]).processInstanceId',
        processInstanceQuery: 'processInstanceIds',
        historicProcessInstanceQuery: 'processInstanceIds',
        externalTaskQuery: 'externalTaskIds',
      },
    },
    getTopicNames: {
      route: 'GET /external-task/topic-names',
      query: 'TopicNamesQuery',
      checks: [],
      items: {
        form: 'topic names',
        anyOf: instancePermissions('READ', 'item'),
      },
      cache: 'names',
    },
  },
] satisfies Tag
