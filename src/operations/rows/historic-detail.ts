import type { Rowset } from '../table.ts'

/** Historic Detail: 5 operations of the published API, sorted by path, then method. */
export const historicDetail = {
  getHistoricDetails: {
    route: 'GET /history/detail',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicDetails',
    },
  },
  queryHistoricDetails: {
    route: 'POST /history/detail',
    checks: [],
    rows: {
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicDetails',
    },
  },
  historicDetail: {
    route: 'GET /history/detail/:id',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicDetail.processDefinitionKey'], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'no execution' },
    ],
    notFound: "404 InvalidRequestException: Historic detail with Id '{id}' does not exist.",
  },
  historicDetailBinary: {
    route: 'GET /history/detail/:id/data',
    checks: [
      { anyOf: ['PROCESS_DEFINITION.READ_HISTORY historicDetail.processDefinitionKey'], reads: 'variables', denied: 404, viaQuery: 'query', exempt: 'no execution' },
    ],
    notFound: "404 InvalidRequestException: Historic detail with Id '{id}' does not exist.",
  },
  getHistoricDetailsCount: {
    route: 'GET /history/detail/count',
    checks: [],
    rows: {
      form: 'count',
      anyOf: ['PROCESS_DEFINITION.READ_HISTORY row:processDefinitionKey'],
      reads: 'variables',
      exempt: 'no execution',
      query: 'historicDetails',
    },
  },
} satisfies Rowset
