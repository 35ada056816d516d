import type { Release } from '../published/releases.ts'
import type { OperationEntry, Tag, TagOperations } from '../table.ts'

const AFTER_CIB_SEVEN_2_2: readonly Release[] = ['CIB seven after 2.2']

const EXIMEE: readonly Release[] = ['EximeeBPMS 1.3']

const FLUXNOVA: readonly Release[] = ['Fluxnova 2.0', 'Fluxnova 3.0']

const FLUXNOVA_3: readonly Release[] = ['Fluxnova 3.0']

/**
 * Returns operations that only these releases have, and that only administrators may use. A path may be that of an entity of another
 * operation, with a word in the place of the id. Other engines have no entity with such an id, so `notFound` is their response. Without
 * a configured release, the engine may be one of these, so it is also the response to a caller who is no administrator.
 */
function forAdministrators(
  only: readonly Release[],
  operations: Readonly<Record<string, Omit<OperationEntry, 'only' | 'checks'>>>,
): TagOperations {
  return Object.fromEntries(
    Object.entries(operations).map(([id, entry]): [string, OperationEntry] => [
      id,
      { ...entry, only, checks: [{ admin: true, denied: entry.notFound === undefined ? 403 : 404 }] },
    ]),
  )
}

/**
 * Operations of single forks. They were not compared with a running engine, so only administrators may use them. Without entries, some
 * of the paths would be read as those of other entities: `/authorization/self` as that of an authorization with the id `self`.
 */
export const forks = [
  forAdministrators(AFTER_CIB_SEVEN_2_2, {
    queryOwnAuthorizations: {
      route: 'GET /authorization/self',
      notFound: '404 InvalidRequestException: Authorization with id self does not exist.',
    },
    activateAdHocSubProcessActivities: { route: 'POST /execution/:id/ad-hoc-activities/activate', loads: 'execution' },
  }),
  forAdministrators([...AFTER_CIB_SEVEN_2_2, ...FLUXNOVA_3], {
    completeAdHocSubProcess: { route: 'POST /execution/:id/ad-hoc-activities/complete', loads: 'execution' },
  }),
  forAdministrators(FLUXNOVA_3, {
    triggerAdHocActivities: { route: 'POST /execution/:id/ad-hoc-activities/trigger', loads: 'execution' },
  }),
  forAdministrators(['CIB seven 2.2', ...AFTER_CIB_SEVEN_2_2], {
    getConfiguration: { route: 'GET /configuration' },
  }),
  forAdministrators([...AFTER_CIB_SEVEN_2_2, ...FLUXNOVA], {
    // CIB seven publishes it as deleteDeploymentsAsyncOperation and responds with a batch. Fluxnova responds with a list.
    deleteDeployments: { route: 'POST /deployment/delete', creates: 'answer:id', changes: ['deployments'] },
  }),
  forAdministrators(FLUXNOVA, {
    bulkAssignTasks: { route: 'POST /bulk/task/assign' },
    bulkCreateTaskComments: { route: 'POST /bulk/task/comment/create', creates: 'answer:[].commentInfo.id' },
    bulkCompleteTasks: { route: 'POST /bulk/task/complete' },
    bulkUpdateTasks: { route: 'POST /bulk/task/update' },
    // The commands of Fluxnova check no tenant of a configuration.
    getConfigurations: { route: 'GET /configurations' },
    createConfiguration: { route: 'POST /configurations', creates: 'answer:id' },
    // Fluxnova publishes it as getConfiguration, which is the name of another operation of CIB seven.
    getConfigurationById: { route: 'GET /configurations/:id', crossTenant: 'ignored' },
    // The new version of the configuration has an id of its own.
    updateConfiguration: { route: 'PUT /configurations/:id', crossTenant: 'ignored', creates: 'answer:id' },
    deleteConfiguration: { route: 'DELETE /configurations/:id', crossTenant: 'ignored', body: 'none' },
    getProcessInstanceIncidentStatistics: { route: 'POST /incident/process-instance-statistics', effect: 'read' },
    deleteByJobIds: { route: 'POST /job/delete' },
    updateSuspensionStateByJobIds: { route: 'POST /job/suspended' },
    getProcessInstanceStatistics: { route: 'POST /process-instance/instance-counts', effect: 'read' },
    getAttachmentsCount: {
      route: 'GET /task/:id/attachment/count',
      loads: 'historicTask',
      notFound: "404 InvalidRequestException: Task attachment with id count does not exist for task id '{id}'.",
    },
    getCommentsCount: {
      route: 'GET /task/:id/comment/count',
      loads: 'historicTask',
      notFound: "404 InvalidRequestException: Task comment with id count does not exist for task id '{id}'.",
    },
  }),
  forAdministrators(EXIMEE, {
    getScriptSecurityConfig: { route: 'GET /script-security/config' },
    updateScriptSecurityConfig: { route: 'PUT /script-security/config' },
    getScriptViolations: { route: 'GET /script-security/violations' },
    getScriptViolationsCount: { route: 'GET /script-security/violations/count' },
  }),
] satisfies Tag
