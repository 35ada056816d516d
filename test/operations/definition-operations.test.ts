import t from 'tap'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { definitionOperations } from '../../src/operations/definition-operations.ts'

const BY = { byId: 'one', byKey: 'oneByKey', byKeyAndTenant: 'oneByKeyAndTenant' } as const
const NOT_FOUND = '404 RestException: none'
const FIND = { name: 'read', anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 404 }

t.test('an operation on a definition exists by id, by key, and by key and tenant', (t) => {
  const rows = definitionOperations('process-definition', {
    ...BY,
    method: 'POST',
    path: '/start',
    checks: (key) => [{ anyOf: [`PROCESS_DEFINITION.CREATE_INSTANCE ${key}`], denied: 403 }],
    starts: true,
    links: true,
    notFound: NOT_FOUND,
    crossTenant: '204',
  })
  const ofKey = {
    checks: [FIND, { anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE path:key'], denied: 403 }],
    actsOnKey: 'latest version',
    starts: 'processDefinitionOfKey',
    links: true,
  }
  t.same(Object.fromEntries(rows), {
    one: {
      route: 'POST /process-definition/:id/start',
      checks: [{ anyOf: ['PROCESS_DEFINITION.CREATE_INSTANCE processDefinition.key'], denied: 403 }],
      starts: 'processDefinition',
      links: true,
      notFound: NOT_FOUND,
      crossTenant: '204',
    },
    oneByKey: {
      ...ofKey,
      route: 'POST /process-definition/key/:key/start',
      notFound: '404 RestException: No matching process definition with key: {key} and no tenant-id',
    },
    oneByKeyAndTenant: {
      ...ofKey,
      route: 'POST /process-definition/key/:key/tenant-id/:tenantId/start',
      notFound: '404 RestException: No matching process definition with key: {key} and tenant-id: {tenantId}',
    },
  })
  t.end()
})

t.test('a form by key has a tenant check on the latest version of its key', (t) => {
  for (const kind of ['process-definition', 'decision-definition'] as const) {
    const rows = definitionOperations(kind, {
      ...BY,
      method: 'GET',
      checks: (key) => [{ anyOf: [`PROCESS_DEFINITION.READ ${key}`], denied: 404 }],
      notFound: NOT_FOUND,
      crossTenant: 'ignored',
    })
    const lookup = kind === 'process-definition' ? 'processDefinitionOfKey' : 'decisionDefinitionOfKey'
    const byKey = operationsOf({ tag: [rows] }).filter(({ id }) => id !== 'one')
    t.same(
      byKey.map(({ loads, crossTenant }) => [loads, crossTenant]),
      [
        [lookup, undefined],
        [lookup, undefined],
      ],
    )
  }
  t.end()
})

t.test('a READ that finds the definition is not written twice', (t) => {
  const written = definitionOperations('decision-definition', {
    ...BY,
    method: 'GET',
    checks: (key) => [{ anyOf: [`DECISION_DEFINITION.READ ${key}`], denied: 403 }],
    cache: 'model',
    notFound: NOT_FOUND,
  })
  const rows = Object.fromEntries(written)
  t.equal(rows['one']?.cache, 'model')
  for (const id of ['oneByKey', 'oneByKeyAndTenant']) {
    t.equal(rows[id]?.cache, 'model', id)
    t.same(
      rows[id]?.checks,
      [{ name: 'read', anyOf: ['DECISION_DEFINITION.READ path:key'], denied: 404 }],
      id,
    )
  }
  t.end()
})

t.test('a field may belong to one form', (t) => {
  const rows = definitionOperations('process-definition', {
    ...BY,
    method: 'POST',
    byKey: { id: 'oneByKey', body: 'StartProcessInstanceFormDto' },
    checks: () => [],
    notFound: NOT_FOUND,
  })
  t.same(
    rows.map(([id, { body }]) => [id, body]),
    [
      ['one', undefined],
      ['oneByKey', 'StartProcessInstanceFormDto'],
      ['oneByKeyAndTenant', undefined],
    ],
  )
  t.end()
})
