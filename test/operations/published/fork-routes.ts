/**
 * The operations that the published API of a fork has and that of Camunda 7.24 lacks, by operationId. They were read in the sources
 * that `src/operations/published/releases.ts` names, because these APIs are not on Maven Central.
 */
export const FORK_ROUTES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'CIB seven': {
    queryOwnAuthorizations: 'GET /authorization/self',
    getConfiguration: 'GET /configuration',
    deleteDeploymentsAsyncOperation: 'POST /deployment/delete',
    activateAdHocSubProcessActivities: 'POST /execution/{id}/ad-hoc-activities/activate',
    completeAdHocSubProcess: 'POST /execution/{id}/ad-hoc-activities/complete',
    queryHistoricActivityStatistics: 'POST /history/process-definition/{id}/statistics',
  },
  EximeeBPMS: {
    getScriptSecurityConfig: 'GET /script-security/config',
    updateScriptSecurityConfig: 'PUT /script-security/config',
    getScriptViolations: 'GET /script-security/violations',
    getScriptViolationsCount: 'GET /script-security/violations/count',
  },
  Fluxnova: {
    bulkAssignTasks: 'POST /bulk/task/assign',
    bulkCreateTaskComments: 'POST /bulk/task/comment/create',
    bulkCompleteTasks: 'POST /bulk/task/complete',
    bulkUpdateTasks: 'POST /bulk/task/update',
    getConfigurations: 'GET /configurations',
    createConfiguration: 'POST /configurations',
    getConfiguration: 'GET /configurations/{id}',
    updateConfiguration: 'PUT /configurations/{id}',
    deleteConfiguration: 'DELETE /configurations/{id}',
    deleteDeployments: 'POST /deployment/delete',
    triggerAdHocActivities: 'POST /execution/{id}/ad-hoc-activities/trigger',
    completeAdHocSubProcess: 'POST /execution/{id}/ad-hoc-activities/complete',
    getProcessInstanceIncidentStatistics: 'POST /incident/process-instance-statistics',
    deleteByJobIds: 'POST /job/delete',
    updateSuspensionStateByJobIds: 'POST /job/suspended',
    getProcessInstanceStatistics: 'POST /process-instance/instance-counts',
    getAttachmentsCount: 'GET /task/{id}/attachment/count',
    getCommentsCount: 'GET /task/{id}/comment/count',
  },
}
