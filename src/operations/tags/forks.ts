import type { Check } from '../notation.ts'
import type { Release } from '../published/releases.ts'
import type { TagOperations } from '../table.ts'

const AFTER_CIB_SEVEN_2_2: readonly Release[] = ['CIB seven after 2.2']

const EXIMEE: readonly Release[] = ['EximeeBPMS 1.3']

/** The sources do not show which release brought the operations. */
const FLUXNOVA: readonly Release[] = ['Fluxnova 2.0', 'Fluxnova 3.0']

const ADMINISTRATORS = [{ admin: true, denied: 403 }] as const satisfies readonly Check[]

/**
 * Operations of single forks. They were not compared with a running engine, so only administrators may use them. Without entries, some
 * of the paths would be read as those of other entities: `/authorization/self` as that of an authorization with the id `self`.
 */
export const forks = {
  queryOwnAuthorizations: {
    route: 'GET /authorization/self',
    only: AFTER_CIB_SEVEN_2_2,
    checks: ADMINISTRATORS,
  },
  bulkAssignTasks: {
    route: 'POST /bulk/task/assign',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  bulkCreateTaskComments: {
    route: 'POST /bulk/task/comment/create',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    creates: 'answer:[].commentInfo.id',
  },
  bulkCompleteTasks: {
    route: 'POST /bulk/task/complete',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  bulkUpdateTasks: {
    route: 'POST /bulk/task/update',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  getConfiguration: {
    route: 'GET /configuration',
    only: ['CIB seven 2.2', ...AFTER_CIB_SEVEN_2_2],
    checks: ADMINISTRATORS,
  },
  // The commands of Fluxnova check no tenant of a configuration.
  getConfigurations: {
    route: 'GET /configurations',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  createConfiguration: {
    route: 'POST /configurations',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    creates: 'answer:id',
  },
  // Fluxnova publishes it as getConfiguration, which is the name of another operation of CIB seven.
  getConfigurationById: {
    route: 'GET /configurations/:id',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    crossTenant: 'ignored',
  },
  // The new version of the configuration has an id of its own.
  updateConfiguration: {
    route: 'PUT /configurations/:id',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    crossTenant: 'ignored',
    creates: 'answer:id',
  },
  deleteConfiguration: {
    route: 'DELETE /configurations/:id',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    crossTenant: 'ignored',
    body: 'none',
  },
  // CIB seven publishes it as deleteDeploymentsAsyncOperation and responds with a batch. Fluxnova responds with a list.
  deleteDeployments: {
    route: 'POST /deployment/delete',
    only: [...AFTER_CIB_SEVEN_2_2, ...FLUXNOVA],
    checks: ADMINISTRATORS,
    creates: 'answer:id',
    changes: ['deployments'],
  },
  activateAdHocSubProcessActivities: {
    route: 'POST /execution/:id/ad-hoc-activities/activate',
    only: AFTER_CIB_SEVEN_2_2,
    checks: ADMINISTRATORS,
    loads: 'execution',
  },
  completeAdHocSubProcess: {
    route: 'POST /execution/:id/ad-hoc-activities/complete',
    only: AFTER_CIB_SEVEN_2_2,
    checks: ADMINISTRATORS,
    loads: 'execution',
  },
  getProcessInstanceIncidentStatistics: {
    route: 'POST /incident/process-instance-statistics',
    effect: 'read',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  deleteByJobIds: {
    route: 'POST /job/delete',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  updateSuspensionStateByJobIds: {
    route: 'POST /job/suspended',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  getProcessInstanceStatistics: {
    route: 'POST /process-instance/instance-counts',
    effect: 'read',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
  },
  getScriptSecurityConfig: {
    route: 'GET /script-security/config',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  updateScriptSecurityConfig: {
    route: 'PUT /script-security/config',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getScriptViolations: {
    route: 'GET /script-security/violations',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getScriptViolationsCount: {
    route: 'GET /script-security/violations/count',
    only: EXIMEE,
    checks: ADMINISTRATORS,
  },
  getAttachmentsCount: {
    route: 'GET /task/:id/attachment/count',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    loads: 'historicTask',
  },
  getCommentsCount: {
    route: 'GET /task/:id/comment/count',
    only: FLUXNOVA,
    checks: ADMINISTRATORS,
    loads: 'historicTask',
  },
} satisfies TagOperations
