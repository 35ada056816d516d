import type { Rowset } from './table.ts'

/** Decision Definition: 17 operations of the published API, sorted by path, then method. */
export const decisionDefinition = {
  getDecisionDefinitions: {
    route: 'GET /decision-definition',
    checks: [],
    rows: { anyOf: ['DECISION_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getDecisionDefinitionById: {
    route: 'GET /decision-definition/:id',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 500 }],
    retry: 'always',
    absent: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
  },
  getDecisionDefinitionDiagram: {
    route: 'GET /decision-definition/:id/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
    absent: "400 NotFoundException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
  },
  evaluateDecisionById: {
    route: 'POST /decision-definition/:id/evaluate',
    body: 'EvaluateDecisionDto',
    checks: [{ anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE decisionDefinition.key'], denied: 403 }],
    absent: "404 InvalidRequestException 0: Cannot evaluate decision {id}: no deployed decision definition found with id '{id}': decisionDefinition is null",
  },
  updateHistoryTimeToLiveByDecisionDefinitionId: {
    route: 'PUT /decision-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['DECISION_DEFINITION.UPDATE decisionDefinition.key'], denied: 403 }],
    absent: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.dmn.entity.repository.DecisionDefinitionEntity.getHistoryTimeToLive()" because "decisionDefinitionEntity" is null',
  },
  getDecisionDefinitionDmnXmlById: {
    route: 'GET /decision-definition/:id/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 500 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
    absent: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
  },
  getDecisionDefinitionsCount: {
    route: 'GET /decision-definition/count',
    checks: [],
    rows: { form: 'count', anyOf: ['DECISION_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getDecisionDefinitionByKey: {
    route: 'GET /decision-definition/key/:key',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    absent: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
  },
  getDecisionDefinitionDiagramByKey: {
    route: 'GET /decision-definition/key/:key/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
  },
  evaluateDecisionByKey: {
    route: 'POST /decision-definition/key/:key/evaluate',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
  },
  updateHistoryTimeToLiveByDecisionDefinitionKey: {
    route: 'PUT /decision-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
  },
  getDecisionDefinitionByKeyAndTenantId: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    absent: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
  },
  getDecisionDefinitionDiagramByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
  },
  evaluateDecisionByKeyAndTenant: {
    route: 'POST /decision-definition/key/:key/tenant-id/:tenantId/evaluate',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
  },
  updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant: {
    route: 'PUT /decision-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
    absent: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
  },
  getDecisionDefinitionDmnXmlByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching decision definition with key: {key} and tenant-id: {tenantId}',
  },
  getDecisionDefinitionDmnXmlByKey: {
    route: 'GET /decision-definition/key/:key/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
    absent: '404 RestException: No matching decision definition with key: {key} and no tenant-id',
  },
} as const satisfies Rowset
