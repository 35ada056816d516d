import { definitionOperations } from '../definition-operations.ts'
import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Decision Definition: 17 operations of the published API. */
export const decisionDefinition = [
  listOperations({
    path: '/decision-definition',
    operations: {
      GET: 'getDecisionDefinitions',
      'GET count': 'getDecisionDefinitionsCount',
    },
    items: { anyOf: ['DECISION_DEFINITION.READ item:key'], prefilter: 'decisionDefinitions' },
  }),
  definitionOperations('decision-definition', {
    method: 'GET',
    byId: 'getDecisionDefinitionById',
    byKey: 'getDecisionDefinitionByKey',
    byKeyAndTenant: 'getDecisionDefinitionByKeyAndTenantId',
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.READ ${key}`], denied: 500 }],
    notFound: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    crossTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-definition', {
    method: 'GET',
    path: '/diagram',
    byId: 'getDecisionDefinitionDiagram',
    byKey: 'getDecisionDefinitionDiagramByKey',
    byKeyAndTenant: 'getDecisionDefinitionDiagramByKeyAndTenant',
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.READ ${key}`], denied: 403 }],
    cache: 'diagram',
    notFound: "400 NotFoundException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-definition', {
    method: 'POST',
    path: '/evaluate',
    byId: { id: 'evaluateDecisionById', body: 'EvaluateDecisionDto' },
    byKey: 'evaluateDecisionByKey',
    byKeyAndTenant: 'evaluateDecisionByKeyAndTenant',
    idempotencyKey: true,
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.CREATE_INSTANCE ${key}`], denied: 403 }],
    notFound: "404 InvalidRequestException 0: Cannot evaluate decision {id}: no deployed decision definition found with id '{id}': decisionDefinition is null",
    crossTenant: "500 RestException 0: Cannot evaluate decision {id}: ENGINE-13034 Cannot evaluate the decision '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-definition', {
    method: 'PUT',
    path: '/history-time-to-live',
    byId: 'updateHistoryTimeToLiveByDecisionDefinitionId',
    byKey: 'updateHistoryTimeToLiveByDecisionDefinitionKey',
    byKeyAndTenant: 'updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant',
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.UPDATE ${key}`], denied: 403 }],
    notFound: '500 NullPointerException: Cannot invoke "org.camunda.bpm.engine.impl.dmn.entity.repository.DecisionDefinitionEntity.getHistoryTimeToLive()" because "decisionDefinitionEntity" is null',
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot update the decision definition '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-definition', {
    method: 'GET',
    path: '/xml',
    byId: 'getDecisionDefinitionDmnXmlById',
    byKey: 'getDecisionDefinitionDmnXmlByKey',
    byKeyAndTenant: 'getDecisionDefinitionDmnXmlByKeyAndTenant',
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.READ ${key}`], denied: 500 }],
    cache: 'model',
    notFound: "404 InvalidRequestException 0: no deployed decision definition found with id '{id}': decisionDefinition is null",
    crossTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision definition '{id}' because it belongs to no authenticated tenant.",
  }),
] satisfies Tag
