import type { Check } from '../notation.ts'
import { WORK_ON_TASK } from '../common-permissions.ts'
import type { TagOperations } from '../table.ts'

const MAY_CHANGE_INSTANCE = [
  { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicProcessInstance.processDefinitionKey'], denied: 404 },
  { anyOf: [
    'PROCESS_INSTANCE.UPDATE path:id',
    'PROCESS_DEFINITION.UPDATE_INSTANCE historicProcessInstance.processDefinitionKey',
  ], denied: 403 },
] as const satisfies readonly Check[]

const MAY_WORK_ON_TASK = [
  { anyOf: [
    'PROCESS_DEFINITION.READ_HISTORY historicTask.processDefinitionKey',
  ], denied: 404, foundBy: 'query', exempt: 'no execution' },
  { anyOf: WORK_ON_TASK, denied: 403 },
] as const satisfies readonly Check[]

/** Operations that Camunda 7.22 lacks. An engine that lacks them responds to permitted callers with 404 or 405. */
export const newerEngines = {
  // The same checks as the published `GET` of the same path.
  queryHistoricActivityStatistics: {
    route: 'POST /history/process-definition/:id/statistics',
    effect: 'read',
    only: ['CIB seven 2.2', 'CIB seven after 2.2'],
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ_HISTORY processDefinition.key'], denied: 'empty' }],
    notFound: '200 []',
    crossTenant: 'ignored',
  },
  updateProcessInstanceComment: {
    route: 'PUT /process-instance/:id/comment',
    checks: MAY_CHANGE_INSTANCE,
    notFound: '404 InvalidRequestException: No process instance found for id {id}',
  },
  deleteProcessInstanceComments: {
    route: 'DELETE /process-instance/:id/comment',
    checks: MAY_CHANGE_INSTANCE,
    notFound: '404 InvalidRequestException: No process instance found for id {id}',
  },
  deleteProcessInstanceComment: {
    route: 'DELETE /process-instance/:id/comment/:commentId',
    checks: MAY_CHANGE_INSTANCE,
    notFound: '404 InvalidRequestException: No process instance found for id {id}',
  },
  updateTaskComment: {
    route: 'PUT /task/:id/comment',
    checks: MAY_WORK_ON_TASK,
    notFound: '404 InvalidRequestException: No task found for task id {id}',
  },
  deleteTaskComments: {
    route: 'DELETE /task/:id/comment',
    checks: MAY_WORK_ON_TASK,
    notFound: '404 InvalidRequestException: No task found for task id {id}',
  },
  deleteTaskComment: {
    route: 'DELETE /task/:id/comment/:commentId',
    checks: MAY_WORK_ON_TASK,
    notFound: '404 InvalidRequestException: No task found for task id {id}',
  },
} satisfies TagOperations
