import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Identity Link Log: 2 operations of the published API. */
export const historicIdentityLinkLog = [
  listOperations({
    path: '/history/identity-link-log',
    operations: {
      GET: 'getHistoricIdentityLinks',
      'GET count': 'getHistoricIdentityLinksCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      exempt: 'no definition',
      prefilter: 'historicIdentityLinks',
    },
  }),
] satisfies Tag
