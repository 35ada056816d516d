import { listOperations } from '../list-operations.ts'
import type { Rowset } from '../table.ts'

/** Decision Definition: 17 operations of the published API. */
export const decisionDefinition = {
  ...listOperations({
    path: '/decision-definition',
    operations: {
      GET: 'getDecisionDefinitions',
      'GET count': 'getDecisionDefinitionsCount',
    },
    rows: { anyOf: ['DECISION_DEFINITION.READ row:key'], query: 'decisionDefinitions' },
  }),
  getDecisionDefinitionById: {
    route: 'GET /decision-definition/:id',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 500 }],
    notFound: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    otherTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionDefinitionDiagram: {
    route: 'GET /decision-definition/:id/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 403 }],
    cache: { seconds: 3600, tags: ['deployment'], content: 'diagram' },
    notFound: "400 NotFoundException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  },
  evaluateDecisionById: {
    route: 'POST /decision-definition/:id/evaluate',
    idempotencyKey: true,
    body: 'EvaluateDecisionDto',
    checks: [{ anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE decisionDefinition.key'], denied: 403 }],
    notFound: "404 InvalidRequestException 0: Cannot evaluate decision {id}: no deployed decision definition found with id '{id}': decisionDefinition is null",
    otherTenant: "500 RestException 0: Cannot evaluate decision {id}: ENGINE-13034 Cannot evaluate the decision '{id}' because it belongs to no authenticated tenant.",
  },
  updateHistoryTimeToLiveByDecisionDefinitionId: {
    route: 'PUT /decision-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['DECISION_DEFINITION.UPDATE decisionDefinition.key'], denied: 403 }],
    notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.dmn.entity.repository.DecisionDefinitionEntity.getHistoryTimeToLive()" because "decisionDefinitionEntity" is null',
    otherTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the decision definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionDefinitionDmnXmlById: {
    route: 'GET /decision-definition/:id/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 500 }],
    cache: { seconds: 3600, tags: ['deployment'], content: 'model' },
    notFound: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    otherTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  },
  getDecisionDefinitionByKey: {
    route: 'GET /decision-definition/key/:key',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getDecisionDefinitionDiagramByKey: {
    route: 'GET /decision-definition/key/:key/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  evaluateDecisionByKey: {
    route: 'POST /decision-definition/key/:key/evaluate',
    idempotencyKey: true,
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  updateHistoryTimeToLiveByDecisionDefinitionKey: {
    route: 'PUT /decision-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
  getDecisionDefinitionByKeyAndTenantId: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    notFound: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionDefinitionDiagramByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'diagram' },
    notFound: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  evaluateDecisionByKeyAndTenant: {
    route: 'POST /decision-definition/key/:key/tenant-id/:tenantId/evaluate',
    idempotencyKey: true,
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant: {
    route: 'PUT /decision-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    notFound: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionDefinitionDmnXmlByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
    actsOn: 'latest version',
  },
  getDecisionDefinitionDmnXmlByKey: {
    route: 'GET /decision-definition/key/:key/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    cache: { seconds: 30, tags: ['deployment'], content: 'model' },
    notFound: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
    actsOn: 'latest version',
  },
} satisfies Rowset
