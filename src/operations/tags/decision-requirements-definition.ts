import { definitionOperations } from '../definition-operations.ts'
import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Decision Requirements Definition: 11 operations of the published API. */
export const decisionRequirementsDefinition = [
  listOperations({
    path: '/decision-requirements-definition',
    operations: {
      GET: 'getDecisionRequirementsDefinitions',
      'GET count': 'getDecisionRequirementsDefinitionsCount',
    },
    items: { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ item:key'], prefilter: 'decisionRequirementsDefinitions' },
  }),
  definitionOperations('decision-requirements-definition', {
    method: 'GET',
    byId: 'getDecisionRequirementsDefinitionById',
    byKey: 'getDecisionRequirementsDefinitionByKey',
    byKeyAndTenant: 'getDecisionRequirementsDefinitionByKeyAndTenantId',
    checks: (key) => [
      { anyOf: [`DECISION_REQUIREMENTS_DEFINITION.READ ${key}`], denied: 500 },
    ],
    notFound: "400 InvalidRequestException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    crossTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-requirements-definition', {
    method: 'GET',
    path: '/diagram',
    byId: 'getDecisionRequirementsDefinitionDiagramById',
    byKey: 'getDecisionRequirementsDefinitionDiagramByKey',
    byKeyAndTenant: 'getDecisionRequirementsDefinitionDiagramByKeyAndTenantId',
    checks: (key) => [
      { anyOf: [`DECISION_REQUIREMENTS_DEFINITION.READ ${key}`], denied: 403 },
    ],
    cache: 'diagram',
    notFound: "400 NotValidException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  }),
  definitionOperations('decision-requirements-definition', {
    method: 'GET',
    path: '/xml',
    byId: 'getDecisionRequirementsDefinitionDmnXmlById',
    byKey: 'getDecisionRequirementsDefinitionDmnXmlByKey',
    byKeyAndTenant: 'getDecisionRequirementsDefinitionDmnXmlByKeyAndTenantId',
    checks: (key) => [
      { anyOf: [`DECISION_REQUIREMENTS_DEFINITION.READ ${key}`], denied: 500 },
    ],
    cache: 'model',
    notFound: "400 InvalidRequestException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    crossTenant: "500 RestException 0: org.camunda.bpm.engine.ProcessEngineException: ENGINE-13034 Cannot get the decision requirements definition '{id}' because it belongs to no authenticated tenant.",
  }),
] satisfies Tag
