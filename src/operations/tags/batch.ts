import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Batch: 7 operations of the published API. */
export const batch = [
  listOperations({
    path: '/batch',
    operations: {
      GET: 'getBatches',
      'GET count': 'getBatchesCount',
    },
    items: { anyOf: ['BATCH.READ item:id'] },
  }),
  {
    getBatch: {
      route: 'GET /batch/:id',
      checks: [{ anyOf: ['BATCH.READ path:id'], denied: 404 }],
      loads: 'batch',
      notFound: "404 InvalidRequestException: Batch with id '{id}' does not exist",
    },
    deleteBatch: {
      route: 'DELETE /batch/:id',
      body: 'none',
      checks: [{ anyOf: ['BATCH.DELETE path:id'], denied: 403 }],
      loads: 'batch',
      notFound: "400 InvalidRequestException 0: Unable to delete batch with id '{id}'",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot delete batch '{id}' because it belongs to no authenticated tenant.",
    },
    updateBatchSuspensionState: {
      route: 'PUT /batch/:id/suspended',
      conflict: 'repeat',
      checks: [{ anyOf: ['BATCH.UPDATE path:id'], denied: 403 }],
      loads: 'batch',
      notFound: "400 InvalidRequestException 0: Unable to {suspended?suspend:activate} batch with id '{id}'",
      crossTenant: "500 ProcessEngineException 0: ENGINE-13034 Cannot {suspended?suspend:activate} batch '{id}' because it belongs to no authenticated tenant.",
    },
  },
  listOperations({
    path: '/batch/statistics',
    operations: {
      GET: 'getBatchStatistics',
      'GET count': 'getBatchStatisticsCount',
    },
    items: { anyOf: ['BATCH.READ item:id'] },
  }),
] satisfies Tag
