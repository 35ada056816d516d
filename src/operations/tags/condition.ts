import type { TagOperations } from '../table.ts'

/** Condition: 1 operation of the published API. */
export const condition = {
  evaluateCondition: {
    route: 'POST /condition',
    creates: 'answer:[].id',
    checks: [
      { anyOf: [
        'PROCESS_DEFINITION.READ each.processDefinitionKey',
      ], when: 'body:processDefinitionId absent and body:tenantId absent and body:withoutTenantId is not true', each: 'conditionalStarts', denied: 400, notFound: '500 ProcessEngineException 0: ENGINE-13043 No subscriptions were found during evaluation of the conditional start events.' },
      { anyOf: ['PROCESS_INSTANCE.CREATE'], each: 'conditionalStarts', denied: 403 },
      { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE each.processDefinitionKey'], each: 'conditionalStarts', denied: 403 },
    ],
    notFound: "400 NotFoundException 0: no deployed process definition found with id '{processDefinitionId}': processDefinition is null",
    loads: 'processDefinition(body:processDefinitionId)',
  },
} satisfies TagOperations
