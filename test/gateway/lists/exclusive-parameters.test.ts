import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

const REPORTS = [
  '/history/process-definition/cleanable-process-instance-report',
  '/history/decision-definition/cleanable-decision-instance-report',
]
const ROWS = ['acme', 'globex', null].map((tenantId, at) => ({
  processDefinitionId: `p${at}`,
  processDefinitionKey: 'review',
  decisionDefinitionId: `d${at}`,
  decisionDefinitionKey: 'review',
  tenantId,
}))

function definitionOf(id: string) {
  const tenantId = ROWS.find(
    (row) => row.processDefinitionId === id || row.decisionDefinitionId === id,
  )?.tenantId
  return { id, key: 'review', tenantId }
}

/** Returns the items as Camunda 7.22 does: if both conditions are given, only `tenantIdIn` applies. */
function rowsFor(query: URLSearchParams) {
  const tenants = query.get('tenantIdIn')?.split(',')
  if (tenants !== undefined)
    return ROWS.filter(({ tenantId }) => tenantId !== null && tenants.includes(tenantId))
  return query.has('withoutTenantId') ? ROWS.filter(({ tenantId }) => tenantId === null) : ROWS
}

t.test('a query for tenants and for items without a tenant returns no items of other tenants', async (t) => {
  const { ask } = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:* READ,READ_HISTORY',
      'grant mary DECISION_DEFINITION:* READ,READ_HISTORY',
    ],
    engine: ({ url }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://engine')
      const isReport = pathname.includes('-report')
      const rows = isReport ? rowsFor(searchParams) : []
      const [, id] = /-definition\/([pd]\d)$/.exec(pathname) ?? []
      const isCount = pathname.endsWith('/count')
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify(id === undefined ? (isCount ? { count: rows.length } : rows) : definitionOf(id)),
      )
    },
  })
  for (const report of REPORTS)
    for (const [tenants, seen] of [
      ['globex', []],
      ['acme', ['acme']],
      ['acme,globex', ['acme']],
    ] as const) {
      const query = `tenantIdIn=${tenants}&withoutTenantId=true`
      t.match(
        await ask('mary', `GET ${report}/count?${query}`),
        { status: 200, body: { count: seen.length } },
        query,
      )
      const { status, body } = await ask('mary', `GET ${report}?${query}`)
      t.equal(status, 200)
      t.same(Array.isArray(body) ? body.map((row: unknown) => Object(row).tenantId) : body, seen, query)
    }
})
