import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Decision Definition: 2 operations of the published API. */
export const historicDecisionDefinition = [
  listOperations({
    path: '/history/decision-definition/cleanable-decision-instance-report',
    operations: {
      GET: 'getCleanableHistoricDecisionInstanceReport',
      'GET count': 'getCleanableHistoricDecisionInstanceReportCount',
    },
    items: { allOf: ['DECISION_DEFINITION.READ item:key', 'DECISION_DEFINITION.READ_HISTORY item:key'], prefilter: 'cleanableDecisionInstances' },
  }),
] satisfies Tag
