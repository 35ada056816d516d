import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Historic Batch: 7 operations of the published API. */
export const historicBatch = [
  listOperations({
    path: '/history/batch',
    operations: {
      GET: 'getHistoricBatches',
      'GET count': 'getHistoricBatchesCount',
    },
    items: { anyOf: ['BATCH.READ_HISTORY item:id'] },
  }),
  {
    getHistoricBatch: {
      route: 'GET /history/batch/:id',
      checks: [{ anyOf: ['BATCH.READ_HISTORY path:id'], denied: 404 }],
      loads: 'historicBatch',
      notFound: "404 InvalidRequestException: Historic batch with id '{id}' does not exist",
    },
    deleteHistoricBatch: {
      route: 'DELETE /history/batch/:id',
      body: 'none',
      checks: [{ anyOf: ['BATCH.DELETE_HISTORY path:id'], denied: 403 }],
      loads: 'historicBatch',
      notFound: "400 InvalidRequestException 0: Unable to delete historic batch with id '{id}'",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete historic batch '{id}' because it belongs to no authenticated tenant.",
    },
  },
  listOperations({
    path: '/history/batch/cleanable-batch-report',
    operations: {
      GET: { id: 'getCleanableHistoricBatchesReport', paging: true },
      'GET count': 'getCleanableHistoricBatchesReportCount',
    },
    checks: [{ anyOf: ['BATCH.READ_HISTORY'], denied: 403 }],
  }),
  {
    setRemovalTimeAsyncHistoricBatch: {
      route: 'POST /history/batch/set-removal-time',
      creates: 'answer:id',
      checks: [
        { anyOf: ['BATCH.READ_HISTORY each.id'], each: 'body:historicBatchIds[]', denied: 400 },
        { anyOf: ['BATCH.CREATE_BATCH_SET_REMOVAL_TIME', 'BATCH.CREATE'], denied: 403 },
      ],
      empty: '400 BadUserRequestException 0: historicBatches is empty',
      selectors: { historicBatchIds: 'getHistoricBatches(batchId).id', historicBatchQuery: 'historicBatchIds' },
      notFound: '400 BadUserRequestException 0: historicBatches is empty',
    },
  },
] satisfies Tag
