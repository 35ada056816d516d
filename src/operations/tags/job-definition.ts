import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Job Definition: 9 operations of the published API. */
export const jobDefinition = [
  listOperations({
    path: '/job-definition',
    operations: {
      GET: 'getJobDefinitions',
      POST: 'queryJobDefinitions',
      'GET count': 'getJobDefinitionsCount',
      'POST count': 'queryJobDefinitionsCount',
    },
    items: { anyOf: ['PROCESS_DEFINITION.READ item:processDefinitionKey'], prefilter: 'jobDefinitions' },
  }),
  {
    getJobDefinition: {
      route: 'GET /job-definition/:id',
      checks: [{ anyOf: ['PROCESS_DEFINITION.READ jobDefinition.processDefinitionKey'], denied: 404, foundBy: 'query' }],
      notFound: '404 InvalidRequestException: Job Definition with id {id} does not exist',
    },
    setJobPriorityJobDefinition: {
      route: 'PUT /job-definition/:id/jobPriority',
      conflict: 'repeat',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.UPDATE jobDefinition.processDefinitionKey'], denied: 403, exempt: 'no definition' },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE jobDefinition.processDefinitionKey',
        ], when: 'body:priority given', denied: 403, exempt: 'no definition' },
      ],
      notFound: "404 InvalidRequestException: Job definition with id '{id}' does not exist: jobDefinition is null",
      crossTenant: "500 RestException: ENGINE-13034 Cannot update the process definition '{jobDefinition.processDefinitionId}' because it belongs to no authenticated tenant.",
    },
    setJobRetriesJobDefinition: {
      route: 'PUT /job-definition/:id/retries',
      conflict: 'repeat',
      checks: [
        { anyOf: [
          'PROCESS_INSTANCE.RETRY_JOB *',
          'PROCESS_DEFINITION.RETRY_JOB jobDefinition.processDefinitionKey',
          'PROCESS_INSTANCE.UPDATE *',
          'PROCESS_DEFINITION.UPDATE_INSTANCE jobDefinition.processDefinitionKey',
        ], denied: 403, exempt: 'no definition' },
      ],
      notFound: '204',
      crossTenant: "500 InvalidRequestException: ENGINE-13034 Cannot update the process definition '{jobDefinition.processDefinitionId}' because it belongs to no authenticated tenant.",
    },
    updateSuspensionStateJobDefinition: {
      route: 'PUT /job-definition/:id/suspended',
      conflict: 'repeat',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.UPDATE jobDefinition.processDefinitionKey'], denied: 403, exempt: 'no definition' },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE jobDefinition.processDefinitionKey',
        ], when: 'body:includeJobs is true', denied: 403, exempt: 'no definition' },
      ],
      notFound: '204',
      crossTenant: 'ignored',
    },
    updateSuspensionStateJobDefinitions: {
      route: 'PUT /job-definition/suspended',
      body: 'JobDefinitionsSuspensionStateDto',
      conflict: 'repeat',
      actsOnKey: 'versions that the body names',
      checks: [
        { anyOf: [
          'PROCESS_DEFINITION.UPDATE processDefinition(body:processDefinitionId).key',
        ], when: 'body:processDefinitionId given', denied: 403, crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the process definition '{processDefinitionId}' because it belongs to no authenticated tenant." },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE processDefinition(body:processDefinitionId).key',
        ], when: 'body:processDefinitionId given and body:includeJobs is true', denied: 403 },
        { anyOf: [
          'PROCESS_DEFINITION.UPDATE body:processDefinitionKey',
        ], when: 'body:processDefinitionKey given', denied: 403 },
        { anyOf: [
          'PROCESS_INSTANCE.UPDATE',
          'PROCESS_DEFINITION.UPDATE_INSTANCE body:processDefinitionKey',
        ], when: 'body:processDefinitionKey given and body:includeJobs is true', denied: 403 },
      ],
      notFound: '204',
    },
  },
] satisfies Tag
