import { listOperations } from '../list-operations.ts'
import type { Tag } from '../table.ts'

/** Filter: 14 operations of the published API. */
export const filter = [
  listOperations({
    path: '/filter',
    operations: {
      GET: { id: 'getFilterList', handler: 'item counts' },
      'GET count': 'getFilterCount',
    },
    items: { anyOf: ['FILTER.READ item:id'], crossTenant: 'ignored' },
  }),
  {
    filterResourceOptions: {
      route: 'OPTIONS /filter',
      checks: [],
      links: { create: 'FILTER.CREATE' },
    },
    getSingleFilter: {
      route: 'GET /filter/:id',
      checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
      handler: 'item counts',
    },
    updateFilter: {
      route: 'PUT /filter/:id',
      expressions: 'refused',
      checks: [
        { anyOf: ['FILTER.READ path:id'], denied: 403 },
        { anyOf: ['FILTER.UPDATE path:id'], denied: 403 },
      ],
    },
    deleteFilter: {
      route: 'DELETE /filter/:id',
      body: 'none',
      checks: [{ anyOf: ['FILTER.DELETE path:id'], denied: 403 }],
    },
    filterResourceOptionsSingle: {
      route: 'OPTIONS /filter/:id',
      checks: [],
      links: {
        self: 'FILTER.READ path:id',
        singleResult: 'FILTER.READ path:id',
        list: 'FILTER.READ path:id',
        count: 'FILTER.READ path:id',
        delete: 'FILTER.DELETE path:id',
        update: 'FILTER.UPDATE path:id',
      },
    },
  },
  listOperations({
    path: '/filter/:id/list',
    countPath: '/filter/:id/count',
    operations: {
      GET: { id: 'executeFilterList', accept: 'hal with variables' },
      POST: { id: 'postExecuteFilterList', accept: 'hal with variables' },
      'GET count': 'executeFilterCount',
      'POST count': 'postExecuteFilterCount',
    },
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    items: {
      anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
      exempt: 'case',
    },
  }),
  listOperations({
    path: '/filter/:id/singleResult',
    operations: { GET: 'executeFilterSingleResult', POST: 'postExecuteFilterSingleResult' },
    accept: 'hal with variables',
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 400 }],
    items: {
      form: 'single',
      anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
      exempt: 'case',
    },
    notFound: '400 InvalidRequestException 0: Filter does not returns a valid single result',
  }),
  {
    createFilter: {
      route: 'POST /filter/create',
      creates: 'answer:id',
      expressions: 'refused',
      checks: [{ anyOf: ['FILTER.CREATE *'], denied: 403 }],
    },
  },
] satisfies Tag
