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
    items: { anyOf: ['FILTER.READ item:id'], crossTenant: 'ignored', prefilter: 'filters' },
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
      expressions: 'checked',
      checks: [
        { anyOf: ['FILTER.READ path:id'], denied: 403 },
        { anyOf: ['FILTER.UPDATE path:id'], denied: 403 },
        // The engine does not check it, and grants nothing to the new owner. With records in files, the owner has all permissions here.
        { loads: 'filter', when: 'the owner of the filter changes', anyOf: ['AUTHORIZATION.CREATE *'], denied: 403 },
      ],
      notFound: "404 InvalidRequestException: Filter with id '{id}' does not exist.",
    },
    deleteFilter: {
      route: 'DELETE /filter/:id',
      removesRecords: 'FILTER',
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
    expressions: 'checked with filter',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    items: {
      anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
      exempt: 'case',
      storedQuery: true,
    },
  }),
  listOperations({
    path: '/filter/:id/singleResult',
    operations: { GET: 'executeFilterSingleResult', POST: 'postExecuteFilterSingleResult' },
    accept: 'hal with variables',
    expressions: 'checked with filter',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 400 }],
    items: {
      form: 'single',
      anyOf: ['TASK.READ item:taskId', 'PROCESS_DEFINITION.READ_TASK item:processDefinitionKey'],
      exempt: 'case',
      storedQuery: true,
    },
    notFound: '400 InvalidRequestException 0: Filter does not returns a valid single result',
  }),
  {
    createFilter: {
      route: 'POST /filter/create',
      creates: 'answer:id',
      expressions: 'checked',
      defaultRecord: { resource: 'FILTER', permissions: ['ALL'], user: 'answer:owner' },
      checks: [{ anyOf: ['FILTER.CREATE *'], denied: 403 }],
    },
  },
] satisfies Tag
