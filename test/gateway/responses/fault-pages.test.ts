import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { LOOKUPS } from '../../../src/policy/authz/entities/lookup-rules.ts'
import { BASE, openGateway, type Seen } from '../../support/open-gateway.ts'

// A proxy in maintenance, or another service on a reused address, responds to every request with 200.

const JSON_TYPE = 'application/json'
const MEMBERS = Object.values(LOOKUPS).flatMap(({ members }) => members)
/** An entity with the members of every kind of entity, without a definition and without a tenant. */
const STRANGER = { ...Object.fromEntries(MEMBERS.map((name) => [name, null])), id: 'other' }
const PAGES: readonly (readonly [type: string, body: string])[] = [
  [JSON_TYPE, '{}'],
  [JSON_TYPE, '[]'],
  [JSON_TYPE, 'null'],
  [JSON_TYPE, '{"status":"maintenance"}'],
  [JSON_TYPE, JSON.stringify(STRANGER)],
  [JSON_TYPE, JSON.stringify([STRANGER])],
  ['text/html', '<h1>Maintenance</h1>'],
]
let page = PAGES[0]
const { ask } = await openGateway(t, {
  records: [],
  engine: (_request, response) => {
    const [type, body] = page ?? ['', '']
    response.writeHead(200, { 'content-type': type }).end(body)
  },
})

// The links in a response to OPTIONS are decided after it.
const WRITES = OPERATIONS.filter(
  ({ method, items }) => method !== 'GET' && method !== 'OPTIONS' && items === undefined,
)
const BODY = {
  processInstanceIds: ['x'],
  externalTaskIds: ['x'],
  processDefinitionId: 'x',
  instructions: [{ type: 'cancel', activityId: 'a' }],
}

function pathOf({ template }: Operation): string {
  return template.replaceAll(/:\w+/g, 'x')
}

/** Returns whether the engine received the request itself. */
function isForwarded(operation: Operation, forwarded: readonly Seen[]): boolean {
  return forwarded.some(
    ({ method, url }) => method === operation.method && url.split('?')[0] === BASE + pathOf(operation),
  )
}

/** Returns whether the lookup is a query. A query that finds nothing returns an empty list, too. */
function isQuery({ method, url }: Seen): boolean {
  return method === 'POST' || url.includes('?')
}

for (const one of PAGES) {
  const [, body] = one
  t.test(`no write is decided by a lookup whose response is ${body}`, async (t) => {
    page = one
    let decided = 0
    for (const operation of WRITES) {
      const route = `${operation.method} ${pathOf(operation)}`
      const { status, headers, forwarded } = await ask('nobody', route, { body: BODY })
      const isUnknown = body === '[]' && forwarded.some(isQuery)
      // These operations are open to every caller, so they need no lookup.
      const needsNoLookUp = forwarded.every((seen) => isForwarded(operation, [seen]))
      if (needsNoLookUp || isUnknown) continue
      decided += 1
      t.equal(isForwarded(operation, forwarded), false, route)
      // A selection may be refused with 400 or 403 before any other lookup.
      if (![400, 403].includes(status))
        t.same([status, headers['x-gateway-error']], [502, 'GW_UPSTREAM_INVALID'], route)
    }
    t.ok(decided > 40, `${decided} requests needed a look-up`)
  })
}

const LISTS = OPERATIONS.filter(({ items }) => items !== undefined && items.form === undefined)

t.test('no list shows items without the members that decide their visibility', async (t) => {
  let listPath = ''
  let shown = 0
  const gateway = await openGateway(t, {
    records: [],
    settings: { authorization: { records: { source: 'file', file: 'records.yaml' }, tenants: 'check' } },
    engine: ({ url }, response) => {
      const path = url.split('?')[0] ?? ''
      const isList = path === BASE + listPath
      shown += Number(isList)
      const body = path.endsWith('/count') ? { count: 1 } : isList ? [{ status: 'maintenance' }] : []
      response.writeHead(200, { 'content-type': JSON_TYPE }).end(JSON.stringify(body))
    },
  })
  for (const operation of LISTS) {
    listPath = pathOf(operation)
    const route = `${operation.method} ${listPath}`
    for (const user of ['nobody', 'mary']) {
      const { bytes } = await gateway.ask(user, route, operation.method === 'POST' ? { body: {} } : {})
      t.notMatch(bytes.toString(), /maintenance/, `${user}: ${route}`)
    }
  }
  t.ok(shown > 30, `${shown} lists were read from the engine`)
})

t.test(
  'an object with nothing but the id is not accepted as an entity that every user may change',
  async (t) => {
    page = [JSON_TYPE, '{"id":"x"}']
    for (const route of [
      'DELETE /process-instance/x',
      'PUT /process-instance/x/variables/amount',
      'POST /task/x/complete',
      'POST /execution/x/signal',
      'POST /external-task/x/unlock',
      'PUT /incident/x/annotation',
      'DELETE /job/x',
      'DELETE /deployment/x',
      'DELETE /batch/x',
    ]) {
      const { status, forwarded } = await ask('nobody', route, route.startsWith('DELETE') ? {} : { body: {} })
      t.equal(status, 502, route)
      t.same(
        forwarded.filter(({ method }) => method !== 'GET'),
        [],
        route,
      )
    }
  },
)
