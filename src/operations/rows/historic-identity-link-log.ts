import type { Rowset } from '../table.ts'

/** Historic Identity Link Log: 2 operations of the published API, sorted by path, then method. */
export const historicIdentityLinkLog = {
  getHistoricIdentityLinks: {
    route: 'GET /history/identity-link-log',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicIdentityLinks',
    },
  },
  getHistoricIdentityLinksCount: {
    route: 'GET /history/identity-link-log/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      exempt: 'no definition',
      query: 'historicIdentityLinks',
    },
  },
} satisfies Rowset
