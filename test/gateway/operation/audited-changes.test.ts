import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { GatewayOptions, OpenGateway } from '../../support/open-gateway.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { recordsOf } from '../../support/people.ts'

const GRANT = { type: 1, userId: 'mary', resourceType: 7, resourceId: '*', permissions: ['READ', 'UPDATE'] }

/** An engine with authorization records that can be read and written. */
function engineWith(records: Map<string, object>): NonNullable<GatewayOptions['engine']> {
  return ({ method, url, body }, response) => {
    const { status, value } = answerTo(records, `${method} ${url}`, body)
    response.setHeader('content-type', 'application/json')
    response.writeHead(status).end(value === undefined ? undefined : JSON.stringify(value))
  }
}

function answerTo(records: Map<string, object>, route: string, body: Buffer) {
  const [method = '', id = ''] = /^(\w+) .*\/authorization\/?([\w-]*)$/.exec(route)?.slice(1) ?? []
  if (method === 'GET') return id === '' ? { status: 200, value: [...records.values()] } : oneOf(records, id)
  if (method === 'POST') {
    const created = { id: randomUUID(), ...JSON.parse(String(body)) }
    records.set(created.id, created)
    return { status: 200, value: { links: [], ...created } }
  }
  if (method === 'PUT') records.set(id, { ...records.get(id), ...JSON.parse(String(body)) })
  if (method === 'DELETE') records.delete(id)
  return { status: 204 }
}

function oneOf(records: ReadonlyMap<string, object>, id: string) {
  return { status: records.has(id) ? 200 : 404, value: records.get(id) ?? {} }
}

async function openWithRecords(t: Test, settings: Readonly<Record<string, unknown>> = {}) {
  const records = new Map<string, object>(
    recordsOf([]).map((record, at) => [`r-${at}`, { id: `r-${at}`, ...record }]),
  )
  const gateway = await openGateway(t, {
    engine: engineWith(records),
    watch: true,
    settings: { authorization: { records: { source: 'engine' } }, ...settings },
  })
  return { gateway, records }
}

async function changeBehind(gateway: OpenGateway, ...ask: Parameters<OpenGateway['ask']>) {
  await gateway.ask(...ask)
  await new Promise(setImmediate)
  return gateway.log.findLast(({ stream }) => stream === 'audit')?.['change']
}

t.test('the line of a granted, changed and withdrawn authorization shows the record', async (t) => {
  const { gateway, records } = await openWithRecords(t)
  const created = await changeBehind(gateway, 'demo', 'POST /authorization/create', { body: GRANT })
  const id = [...records.keys()].at(-1) ?? ''
  const shown = { type: 1, userId: 'mary', resourceType: 7, resource: 'Task', resourceId: '*' }
  const before = { ...shown, permissions: ['READ', 'UPDATE'] }
  t.same(created, { action: 'create', authorization: id, after: before })
  const body = { ...GRANT, permissions: ['ALL'] }
  const after = { ...shown, permissions: ['ALL'] }
  t.same(await changeBehind(gateway, 'demo', `PUT /authorization/${id}`, { body }), {
    action: 'update',
    authorization: id,
    before,
    after,
  })
  t.same(await changeBehind(gateway, 'demo', `DELETE /authorization/${id}`), {
    action: 'delete',
    authorization: id,
    before: after,
  })
})

t.test('a record that the gateway has not read, or has read only partly, is unknown', async (t) => {
  const { gateway, records } = await openWithRecords(t)
  records.set('odd', { id: 'odd', ...GRANT, permissions: ['FLY'] })
  await gateway.ask('demo', 'POST /authorization/create', { body: GRANT })
  for (const id of ['odd', 'none'])
    t.match(await changeBehind(gateway, 'demo', `DELETE /authorization/${id}`), { before: 'unknown' }, id)
  const ofFile = await openGateway(t, { engine: engineWith(new Map([['odd', { id: 'odd', ...GRANT }]])) })
  t.same(await changeBehind(ofFile, 'demo', 'DELETE /authorization/odd'), {
    action: 'delete',
    authorization: 'odd',
    before: 'unknown',
  })
})

t.test('a refused attempt to grant is recorded with the requested record', async (t) => {
  const { gateway } = await openWithRecords(t)
  t.match(await changeBehind(gateway, 'mary', 'POST /authorization/create', { body: GRANT }), {
    action: 'create',
    authorization: undefined,
    after: { userId: 'mary', permissions: ['READ', 'UPDATE'] },
  })
  t.match(gateway.log.at(-1), { decision: 'refused', status: 403 })
})

t.test(
  'the line of a change of memberships, users or passwords names the user and the change, and no secret',
  async (t) => {
    const { gateway } = await openWithRecords(t)
    const user = {
      profile: { id: 'new', firstName: 'Nora', email: 'n@x.org' },
      credentials: { password: 'hunter2' },
    }
    const password = { password: 'hunter2', authenticatedUserPassword: 'demo-secret' }
    const cases: readonly (readonly [route: string, body: unknown, change: object])[] = [
      ['PUT /group/accounting/members/mary', undefined, { action: 'add', user: 'mary', group: 'accounting' }],
      [
        'DELETE /group/accounting/members/mary',
        undefined,
        { action: 'remove', user: 'mary', group: 'accounting' },
      ],
      ['PUT /tenant/acme/user-members/mary', undefined, { action: 'add', user: 'mary', tenant: 'acme' }],
      [
        'PUT /tenant/acme/group-members/clerks',
        undefined,
        { action: 'add', group: 'clerks', tenant: 'acme' },
      ],
      ['POST /user/create', user, { action: 'create', user: 'new' }],
      ['DELETE /user/new', undefined, { action: 'delete', user: 'new' }],
      ['PUT /user/new/credentials', password, { action: 'set password', user: 'new' }],
      ['POST /group/create', { id: 'g', name: 'G' }, { action: 'create', group: 'g' }],
      ['DELETE /tenant/acme', undefined, { action: 'delete', tenant: 'acme' }],
    ]
    for (const [route, body, change] of cases)
      t.same(await changeBehind(gateway, 'demo', route, body === undefined ? {} : { body }), change, route)
    t.notMatch(JSON.stringify(gateway.log), /hunter2|demo-secret|Nora|n@x/)
  },
)
