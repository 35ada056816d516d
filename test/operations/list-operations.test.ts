import t from 'tap'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { listOperations } from '../../src/operations/list-operations.ts'

const writtenBy = (list: Parameters<typeof listOperations>[0]) => Object.fromEntries(listOperations(list))
const items = { anyOf: ['TASK.READ item:id'] } as const

t.test('a list has a query and a count, by GET and by POST, with the same checks and items', (t) => {
  const operations = {
    GET: 'getAll',
    POST: 'queryAll',
    'GET count': 'getAllCount',
    'POST count': 'queryAllCount',
  } as const
  const checks = [{ anyOf: ['FILTER.READ path:id'], denied: 403 }] as const
  t.same(writtenBy({ path: '/a', operations, checks, items, expressions: 'checked' }), {
    getAll: { route: 'GET /a', checks, items, expressions: 'checked' },
    queryAll: { route: 'POST /a', checks, items, expressions: 'checked' },
    getAllCount: {
      route: 'GET /a/count',
      checks,
      items: { ...items, form: 'count' },
      expressions: 'checked',
    },
    queryAllCount: {
      route: 'POST /a/count',
      checks,
      items: { ...items, form: 'count' },
      expressions: 'checked',
    },
  })
  t.end()
})

t.test('a list has only the operations that it names, and a field may belong to one of them', (t) => {
  const operations = { GET: { id: 'getAll', accept: 'hal' }, 'GET count': 'getAllCount' } as const
  t.same(writtenBy({ path: '/a/list', countPath: '/a/count', operations, items }), {
    getAll: { route: 'GET /a/list', checks: [], items, accept: 'hal' },
    getAllCount: { route: 'GET /a/count', checks: [], items: { ...items, form: 'count' } },
  })
  t.end()
})

t.test('a list that only its checks restrict has no items', (t) => {
  const checks = [{ anyOf: ['BATCH.READ_HISTORY'], denied: 403 }] as const
  t.same(writtenBy({ path: '/a', operations: { GET: 'getAll', 'GET count': 'getAllCount' }, checks }), {
    getAll: { route: 'GET /a', checks },
    getAllCount: { route: 'GET /a/count', checks },
  })
  t.end()
})

t.test('two operations of a list with the same name are an error', (t) => {
  const list = listOperations({ path: '/a', operations: { GET: 'one', POST: 'one' }, items })
  t.throws(() => operationsOf({ tag: [list] }), /one twice/)
  t.end()
})
