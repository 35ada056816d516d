import type { Rowset } from '../table.ts'

/** Filter: 14 operations of the published API, sorted by path, then method. */
export const filter = {
  getFilterList: {
    route: 'GET /filter',
    checks: [],
    rows: { anyOf: ['FILTER.READ row:id'], tenants: 'ignored' },
    itemCount: 'executeFilterCount',
  },
  filterResourceOptions: {
    route: 'OPTIONS /filter',
    checks: [],
    links: true,
    allowedLinks: { create: 'FILTER.CREATE' },
  },
  getSingleFilter: {
    route: 'GET /filter/:id',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    itemCount: 'executeFilterCount',
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
    media: 'none',
    checks: [{ anyOf: ['FILTER.DELETE path:id'], denied: 403 }],
  },
  filterResourceOptionsSingle: {
    route: 'OPTIONS /filter/:id',
    checks: [],
    links: true,
    allowedLinks: {
      self: 'FILTER.READ path:id',
      singleResult: 'FILTER.READ path:id',
      list: 'FILTER.READ path:id',
      count: 'FILTER.READ path:id',
      delete: 'FILTER.DELETE path:id',
      update: 'FILTER.UPDATE path:id',
    },
  },
  executeFilterCount: {
    route: 'GET /filter/:id/count',
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    rows: {
      form: 'count',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
  },
  postExecuteFilterCount: {
    route: 'POST /filter/:id/count',
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    rows: {
      form: 'count',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
  },
  executeFilterList: {
    route: 'GET /filter/:id/list',
    hal: true,
    halVariables: true,
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    rows: {
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
  },
  postExecuteFilterList: {
    route: 'POST /filter/:id/list',
    hal: true,
    halVariables: true,
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 403 }],
    rows: {
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
  },
  executeFilterSingleResult: {
    route: 'GET /filter/:id/singleResult',
    hal: true,
    halVariables: true,
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 400 }],
    rows: {
      form: 'single',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    notFound: '400 InvalidRequestException 0: Filter does not returns a valid single result',
  },
  postExecuteFilterSingleResult: {
    route: 'POST /filter/:id/singleResult',
    hal: true,
    halVariables: true,
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.READ path:id'], denied: 400 }],
    rows: {
      form: 'single',
      anyOf: ['TASK.READ row:taskId', 'PROCESS_DEFINITION.READ_TASK row:processDefinitionKey'],
      exempt: 'case',
    },
    notFound: '400 InvalidRequestException 0: Filter does not returns a valid single result',
  },
  getFilterCount: {
    route: 'GET /filter/count',
    checks: [],
    rows: { form: 'count', anyOf: ['FILTER.READ row:id'], tenants: 'ignored' },
  },
  createFilter: {
    route: 'POST /filter/create',
    creates: 'answer:id',
    expressions: 'refused',
    checks: [{ anyOf: ['FILTER.CREATE *'], denied: 403 }],
  },
} satisfies Rowset
