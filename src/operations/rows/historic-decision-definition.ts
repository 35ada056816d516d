import type { Rowset } from '../table.ts'

/** Historic Decision Definition: 2 operations of the published API, sorted by path, then method. */
export const historicDecisionDefinition = {
  getCleanableHistoricDecisionInstanceReport: {
    route: 'GET /history/decision-definition/cleanable-decision-instance-report',
    checks: [],
    rows: { allOf: ['DECISION_DEFINITION.READ row:key', 'DECISION_DEFINITION.READ_HISTORY row:key'], oneRecord: true, query: 'cleanableDecisionInstances' },
  },
  getCleanableHistoricDecisionInstanceReportCount: {
    route: 'GET /history/decision-definition/cleanable-decision-instance-report/count',
    checks: [],
    rows: { form: 'count', allOf: ['DECISION_DEFINITION.READ row:key', 'DECISION_DEFINITION.READ_HISTORY row:key'], oneRecord: true, query: 'cleanableDecisionInstances' },
  },
} satisfies Rowset
