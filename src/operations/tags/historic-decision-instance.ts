import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Decision Instance: 5 operations of the published API. */
export const historicDecisionInstance = [
  listOperations({
    path: '/history/decision-instance',
    operations: {
      GET: 'getHistoricDecisionInstances',
      'GET count': 'getHistoricDecisionInstancesCount',
    },
    items: { anyOf: ['DECISION_DEFINITION.READ_HISTORY item:decisionDefinitionKey'], prefilter: 'historicDecisionInstances' },
  }),
  {
    getHistoricDecisionInstance: {
      route: 'GET /history/decision-instance/:id',
      checks: [
        { anyOf: ['DECISION_DEFINITION.READ_HISTORY historicDecisionInstance.decisionDefinitionKey'], denied: 404, foundBy: 'query' },
      ],
      notFound: "404 InvalidRequestException: Historic decision instance with id '{id}' does not exist",
    },
    deleteAsync: {
      route: 'POST /history/decision-instance/delete',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_DELETE_DECISION_INSTANCES', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 InvalidRequestException: historicDecisionInstanceIds is empty',
      selectors: { historicDecisionInstanceQuery: 'historicDecisionInstanceIds' },
    },
    setRemovalTimeAsyncHistoricDecisionInstance: {
      route: 'POST /history/decision-instance/set-removal-time',
      creates: 'answer:id',
      checks: [{ anyOf: ['BATCH.CREATE_BATCH_SET_REMOVAL_TIME', 'BATCH.CREATE'], denied: 403 }],
      empty: '400 BadUserRequestException 0: historicDecisionInstances is empty',
      selectors: { historicDecisionInstanceIds: 'getHistoricDecisionInstances(decisionInstanceIdIn[]).id', historicDecisionInstanceQuery: 'historicDecisionInstanceIds' },
    },
  },
] satisfies Tag
