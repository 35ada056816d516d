import type { Check } from '../notation.ts'
import type { Release } from '../published/releases.ts'
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
  { anyOf: [
    'TASK.TASK_WORK path:id',
    'PROCESS_DEFINITION.TASK_WORK task.processDefinitionKey',
    'TASK.UPDATE path:id',
    'PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey',
  ], denied: 403 },
] as const satisfies readonly Check[]

const CIB_SEVEN: readonly Release[] = ['CIB seven 2.2', 'CIB seven after 2.2']

/** The source does not show which release brought the operations. */
const FLUXNOVA: readonly Release[] = ['Fluxnova 2.0', 'Fluxnova 3.0']

/** Operations that Camunda 7.22 lacks. An engine that lacks them responds to permitted callers with 404 or 405. */
export const newerEngines = {
  // Not compared with a running CIB seven, so only administrators may use it.
  getConfiguration: {
    route: 'GET /configuration',
    only: CIB_SEVEN,
    checks: [{ admin: true, denied: 403 }],
  },
  // The same checks as the published `GET` of the same path.
  queryHistoricActivityStatistics: {
    route: 'POST /history/process-definition/:id/statistics',
    effect: 'read',
    only: CIB_SEVEN,
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
  // Not compared with a running engine. Without the entries, the paths would be read as those of an authorization, a comment and an
  // attachment with the ids `self` and `count`.
  queryOwnAuthorizations: {
    route: 'GET /authorization/self',
    only: ['CIB seven after 2.2'],
    checks: [{ admin: true, denied: 403 }],
  },
  getCommentsCount: {
    route: 'GET /task/:id/comment/count',
    only: FLUXNOVA,
    checks: [{ admin: true, denied: 403 }],
    loads: 'historicTask',
  },
  getAttachmentsCount: {
    route: 'GET /task/:id/attachment/count',
    only: FLUXNOVA,
    checks: [{ admin: true, denied: 403 }],
    loads: 'historicTask',
  },
  // Not compared with a running engine.
  getScriptSecurityConfig: {
    route: 'GET /script-security/config',
    only: ['EximeeBPMS 1.3'],
    checks: [{ admin: true, denied: 403 }],
  },
  getScriptViolations: {
    route: 'GET /script-security/violations',
    only: ['EximeeBPMS 1.3'],
    checks: [{ admin: true, denied: 403 }],
  },
  getScriptViolationsCount: {
    route: 'GET /script-security/violations/count',
    only: ['EximeeBPMS 1.3'],
    checks: [{ admin: true, denied: 403 }],
  },
} satisfies TagOperations
