import { listOperations } from '../list-operations.ts'
import type { Rowset } from '../table.ts'

/** Decision Requirements Definition: 11 operations of the published API. */
export const decisionRequirementsDefinition = {
  ...listOperations({
    path: '/decision-requirements-definition',
    operations: {
      GET: 'getDecisionRequirementsDefinitions',
      'GET count': 'getDecisionRequirementsDefinitionsCount',
    },
    rows: { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ row:key'], query: 'decisionRequirementsDefinitions' },
  }),
  getDecisionRequirementsDefinitionById: {
    route: 'GET /decision-requirements-definition/:id',
    checks: [
      { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ decisionRequirementsDefinition.key'], denied: 500 },
    ],
    notFound: "400 InvalidRequestException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    otherTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionRequirementsDefinitionDiagramById: {
    route: 'GET /decision-requirements-definition/:id/diagram',
    checks: [
      { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ decisionRequirementsDefinition.key'], denied: 403 },
    ],
    cache: { seconds: 3600, tags: ['deployment'], content: 'diagram' },
    notFound: "400 NotValidException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionRequirementsDefinitionDmnXmlById: {
    route: 'GET /decision-requirements-definition/:id/xml',
    checks: [
      { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ decisionRequirementsDefinition.key'], denied: 500 },
    ],
    cache: { seconds: 3600, tags: ['deployment'], content: 'model' },
    notFound: "400 InvalidRequestException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    otherTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionRequirementsDefinitionByKey: {
    route: 'GET /decision-requirements-definition/key/:key',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getDecisionRequirementsDefinitionDiagramByKey: {
    route: 'GET /decision-requirements-definition/key/:key/diagram',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getDecisionRequirementsDefinitionByKeyAndTenantId: {
    route: 'GET /decision-requirements-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionRequirementsDefinitionDiagramByKeyAndTenantId: {
    route: 'GET /decision-requirements-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionRequirementsDefinitionDmnXmlByKeyAndTenantId: {
    route: 'GET /decision-requirements-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionRequirementsDefinitionDmnXmlByKey: {
    route: 'GET /decision-requirements-definition/key/:key/xml',
    checks: [{ anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching decision requirements definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
} satisfies Rowset
