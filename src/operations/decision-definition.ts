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
  },
  getDecisionDefinitionDiagram: {
    route: 'GET /decision-definition/:id/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 403 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
  },
  evaluateDecisionById: {
    route: 'POST /decision-definition/:id/evaluate',
    body: 'EvaluateDecisionDto',
    checks: [{ anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE decisionDefinition.key'], denied: 403 }],
  },
  updateHistoryTimeToLiveByDecisionDefinitionId: {
    route: 'PUT /decision-definition/:id/history-time-to-live',
    checks: [{ anyOf: ['DECISION_DEFINITION.UPDATE decisionDefinition.key'], denied: 403 }],
  },
  getDecisionDefinitionDmnXmlById: {
    route: 'GET /decision-definition/:id/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ decisionDefinition.key'], denied: 500 }],
    retry: 'always',
    cache: { seconds: 3600, tags: ['deployment'] },
  },
  getDecisionDefinitionsCount: {
    route: 'GET /decision-definition/count',
    checks: [],
    rows: { anyOf: ['DECISION_DEFINITION.READ row:key'] },
    retry: 'always',
  },
  getDecisionDefinitionByKey: {
    route: 'GET /decision-definition/key/:key',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
  },
  getDecisionDefinitionDiagramByKey: {
    route: 'GET /decision-definition/key/:key/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  evaluateDecisionByKey: {
    route: 'POST /decision-definition/key/:key/evaluate',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
  },
  updateHistoryTimeToLiveByDecisionDefinitionKey: {
    route: 'PUT /decision-definition/key/:key/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
  },
  getDecisionDefinitionByKeyAndTenantId: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
  },
  getDecisionDefinitionDiagramByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/diagram',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  evaluateDecisionByKeyAndTenant: {
    route: 'POST /decision-definition/key/:key/tenant-id/:tenantId/evaluate',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 },
    ],
  },
  updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant: {
    route: 'PUT /decision-definition/key/:key/tenant-id/:tenantId/history-time-to-live',
    checks: [
      { anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 },
      { anyOf: ['DECISION_DEFINITION.UPDATE path:key'], denied: 403 },
    ],
  },
  getDecisionDefinitionDmnXmlByKeyAndTenant: {
    route: 'GET /decision-definition/key/:key/tenant-id/:tenantId/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
  getDecisionDefinitionDmnXmlByKey: {
    route: 'GET /decision-definition/key/:key/xml',
    checks: [{ anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
    retry: 'always',
    cache: { seconds: 30, tags: ['deployment'] },
  },
} as const satisfies Rowset
