import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Detail: 5 operations of the published API. */
export const historicDetail = [
  listOperations({
    path: '/history/detail',
    operations: {
      GET: 'getHistoricDetails',
      POST: 'queryHistoricDetails',
      'GET count': 'getHistoricDetailsCount',
    },
    items: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY item:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      prefilter: 'historicDetails',
    },
  }),
  {
    historicDetail: {
      route: 'GET /history/detail/:id',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicDetail.processDefinitionKey'], reads: 'variables', denied: 404, foundBy: 'query', exempt: 'no execution' },
      ],
      notFound: "404 InvalidRequestException: Historic detail with Id '{id}' does not exist.",
    },
    historicDetailBinary: {
      route: 'GET /history/detail/:id/data',
      checks: [
        { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicDetail.processDefinitionKey'], reads: 'variables', denied: 404, foundBy: 'query', exempt: 'no execution' },
      ],
      notFound: "404 InvalidRequestException: Historic detail with Id '{id}' does not exist.",
    },
  },
] satisfies Tag
