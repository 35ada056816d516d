import { listOperations } from '../list-operations.ts'
import { COMMAND_CHECKS } from '../job-commands.ts'
import { instancePermissions } from '../common-permissions.ts'
import type { Tag } from '../table.ts'

/** Job: 15 operations of the published API. */
export const job = [
  listOperations({
    path: '/job',
    operations: {
      GET: 'getJobs',
      POST: 'queryJobs',
      'GET count': 'getJobsCount',
      'POST count': 'queryJobsCount',
    },
    items: {
      anyOf: instancePermissions('READ', 'item'),
      exempt: 'no definition',
      prefilter: 'jobs',
    },
  }),
  {
    getJob: {
      route: 'GET /job/:id',
      checks: [{ anyOf: instancePermissions('READ', 'job'), denied: 404, foundBy: 'query', exempt: 'no definition' }],
      notFound: '404 InvalidRequestException: Job with id {id} does not exist',
    },
    deleteJob: {
      route: 'DELETE /job/:id',
      body: 'none',
      checks: [{ anyOf: instancePermissions('UPDATE', 'job'), denied: 403, exempt: 'no definition' }],
      notFound: "404 InvalidRequestException: No job found with id '{id}': job is null",
      crossTenant: "500 RestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    setJobDuedate: {
      route: 'PUT /job/:id/duedate',
      conflict: 'repeat',
      checks: [{ anyOf: instancePermissions('UPDATE', 'job'), denied: 403, exempt: 'no definition' }],
      notFound: "500 InvalidRequestException: No job found with id '{id}'.",
      crossTenant: "500 InvalidRequestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    recalculateDuedate: {
      route: 'POST /job/:id/duedate/recalculate',
      body: 'none',
      checks: [{ anyOf: instancePermissions('UPDATE', 'job'), denied: 403, exempt: 'no definition' }],
      notFound: "404 InvalidRequestException 0: No job found with id '{id}': job is null",
      crossTenant: "500 InvalidRequestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    executeJob: {
      route: 'POST /job/:id/execute',
      body: 'none',
      checks: [
        { anyOf: instancePermissions('UPDATE', 'executedJob'), denied: 403, exempt: 'no definition' },
        ...COMMAND_CHECKS,
      ],
      notFound: "404 InvalidRequestException: ENGINE-14026 No job found with id '{id}'",
      crossTenant: "404 InvalidRequestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    setJobPriority: {
      route: 'PUT /job/:id/priority',
      conflict: 'repeat',
      checks: [{ anyOf: instancePermissions('UPDATE', 'job'), denied: 403, exempt: 'no definition' }],
      notFound: "404 InvalidRequestException: No job found with id '{id}': job is null",
      crossTenant: "500 RestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    setJobRetries: {
      route: 'PUT /job/:id/retries',
      conflict: 'repeat',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.RETRY_JOB job.processInstanceId',
          'PROCESS_DEFINITION.RETRY_JOB job.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE job.processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE job.processDefinitionKey',
        ], denied: 403, exempt: 'no definition' },
      ],
      notFound: "500 InvalidRequestException: ENGINE-13053 No job found with id '{id}'.'",
      crossTenant: "500 InvalidRequestException: ENGINE-13034 Cannot update the job '{id}' because it belongs to no authenticated tenant.",
    },
    getStacktrace: {
      route: 'GET /job/:id/stacktrace',
      checks: [{ anyOf: instancePermissions('READ', 'job'), denied: 403, exempt: 'no definition' }],
      notFound: '404 InvalidRequestException: No job found with id {id}: job is null',
      crossTenant: "404 InvalidRequestException: ENGINE-13034 Cannot read the job '{id}' because it belongs to no authenticated tenant.",
    },
    updateJobSuspensionState: {
      route: 'PUT /job/:id/suspended',
      conflict: 'repeat',
      checks: [
        { anyOf: instancePermissions('UPDATE', 'jobOfInstance'), when: 'the job has an instance', denied: 403 },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE jobOfInstance.processDefinitionKey',
        ], when: 'the job has only a definition', denied: 403 },
      ],
      notFound: '204',
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{jobOfInstance.processInstanceId}' because it belongs to no authenticated tenant.",
    },
    setJobRetriesAsyncOperation: {
      route: 'POST /job/retries',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_JOB_RETRIES', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 InvalidRequestException: jobIds is empty',
      selectors: { jobQuery: 'jobIds' },
    },
    updateSuspensionStateBy: {
      route: 'PUT /job/suspended',
      body: 'JobSuspensionStateDto',
      conflict: 'repeat',
      actsOnKey: 'versions that the body names',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE body:processInstanceId',
          'PROCESS_DEFINITION.UPDATE_INSTANCE processInstance(body:processInstanceId).processDefinitionKey',
        ], when: 'body:processInstanceId given', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process instance '{processInstanceId}' because it belongs to no authenticated tenant." },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE processDefinition(body:processDefinitionId).key',
        ], when: 'body:processDefinitionId given', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{processDefinitionId}' because it belongs to no authenticated tenant." },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE body:processDefinitionKey',
        ], when: 'body:processDefinitionKey given', denied: 403 },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE jobDefinition(body:jobDefinitionId).processDefinitionKey',
        ], when: 'body:jobDefinitionId given', denied: 403, foundBy: 'query', crossTenant: 'ignored' },
      ],
      notFound: '204',
    },
  },
] satisfies Tag
