import type { TagOperations } from '../table.ts'

/** Historic Decision Requirements Definition: 1 operation of the published API. */
export const historicDecisionRequirementsDefinition = {
  getDecisionStatistics: {
    route: 'GET /history/decision-requirements-definition/:id/statistics',
    checks: [
      { anyOf: ['DECISION_REQUIREMENTS_DEFINITION.READ decisionRequirementsDefinition.key'], denied: 403 },
    ],
    notFound: "500 NullValueException 0: no deployed decision requirements definition found with id '{id}': decisionRequirementsDefinition is null",
    crossTenant: '200 []',
  },
} satisfies TagOperations
