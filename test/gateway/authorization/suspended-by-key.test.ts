import t from 'tap'
import { Readable } from 'node:stream'
import { buildDryRun } from '../../../src/gateway.ts'
import { createExplain, questionOf } from '../../../src/pipeline/explain.ts'
import { textOfExplained } from '../../../src/pipeline/explain-text.ts'
import { lineOfRecord } from '../../../src/pipeline/record-line.ts'
import { auditRecordOf } from '../../../src/metrics/audit-log.ts'
import { RESOURCES } from '../../../src/operations/permissions.ts'
import { BASE, type GatewayOptions, openGateway } from '../../support/open-gateway.ts'
import { runInProcess } from '../../support/run-command.ts'

const definition = (key: string, tenantId: string | null) => ({ id: `${key}:${tenantId}`, key, tenantId })

/** Latest versions, as an engine without authorization lists them. */
const DEFINITIONS = [
  definition('shared', null),
  definition('shared', 'acme'),
  definition('shared', 'globex'),
  definition('ours', null),
  definition('ours', 'acme'),
  ...Array.from({ length: 2001 }, () => definition('many', 'acme')),
]
const RIGHTS = 'READ,UPDATE,SUSPEND,UPDATE_INSTANCE,SUSPEND_INSTANCE'

const engine: GatewayOptions['engine'] = ({ method, url }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://engine')
  const isListed = pathname === `${BASE}/process-definition` && searchParams.get('latestVersion') === 'true'
  const rows = DEFINITIONS.filter(({ key }) => key === searchParams.get('key'))
  const status = method === 'PUT' ? 204 : isListed ? 200 : 404
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(status === 204 ? '' : JSON.stringify(rows.slice(0, Number(searchParams.get('maxResults')))))
}

const { ask, dependencies } = await openGateway(t, {
  records: ['shared', 'ours', 'many', 'none'].map((key) => `grant mary PROCESS_DEFINITION:${key} ${RIGHTS}`),
  engine,
})

const BY_TENANT = ['PUT /process-instance/suspended', 'PUT /job/suspended', 'PUT /job-definition/suspended']
const OF_ALL = 'PUT /process-definition/suspended'

async function suspend(user: string, route: string, body: Readonly<Record<string, unknown>>) {
  const { status, headers, body: said, forwarded } = await ask(user, route, { body })
  const sent = forwarded.filter(({ method }) => method === 'PUT').length
  return { status, error: headers['x-gateway-error'], said, sent }
}

t.test(
  'suspending by key is refused if another tenant has the key and the body names no tenant',
  async (t) => {
    const body = { processDefinitionKey: 'shared', suspended: true }
    for (const route of BY_TENANT)
      for (const more of [{}, { processDefinitionTenantId: null, processDefinitionWithoutTenantId: 'false' }])
        t.match(
          await suspend('mary', route, { ...body, ...more }),
          {
            status: 403,
            error: 'GW_CHECK_NOT_EXACT',
            said: { message: /set processDefinitionTenantId or processDefinitionWithoutTenantId$/ },
            sent: 0,
          },
          route,
        )
  },
)

t.test(
  'suspending by key for another tenant is not sent, because the engine would find nothing for the caller',
  async (t) => {
    for (const route of BY_TENANT)
      for (const more of [{}, { processDefinitionWithoutTenantId: true }]) {
        const body = { processDefinitionKey: 'shared', processDefinitionTenantId: 'globex', ...more }
        t.match(await suspend('mary', route, body), { status: 204, sent: 0 }, route)
      }
  },
)

t.test('suspending by key is permitted for the caller’s tenant and for no tenant', async (t) => {
  for (const route of BY_TENANT)
    for (const more of [
      { processDefinitionTenantId: 'acme' },
      { processDefinitionTenantId: 'acme', processDefinitionWithoutTenantId: true },
      { processDefinitionWithoutTenantId: 'TRUE' },
    ])
      t.match(
        await suspend('mary', route, { processDefinitionKey: 'shared', ...more }),
        { status: 204, sent: 1 },
        route,
      )
})

t.test('suspending definitions by key is refused, whatever tenant the body names', async (t) => {
  for (const more of [
    {},
    { processDefinitionTenantId: 'acme' },
    { processDefinitionTenantId: 'globex' },
    { processDefinitionWithoutTenantId: true },
  ])
    t.match(await suspend('mary', OF_ALL, { processDefinitionKey: 'shared', ...more }), {
      status: 403,
      error: 'GW_CHECK_NOT_EXACT',
      said: { message: /use the id, or the key and the tenant in the path$/ },
      sent: 0,
    })
})

t.test('a key that no other tenant has needs no tenant in the body', async (t) => {
  for (const route of [...BY_TENANT, OF_ALL])
    for (const processDefinitionKey of ['ours', 'none'])
      t.match(await suspend('mary', route, { processDefinitionKey }), { status: 204, sent: 1 }, route)
})

t.test('a key with too many definitions is refused', async (t) => {
  for (const route of [...BY_TENANT, OF_ALL])
    t.match(await suspend('mary', route, { processDefinitionKey: 'many' }), {
      status: 403,
      error: 'GW_CHECK_NOT_EXACT',
      sent: 0,
    })
})

t.test(
  'the permission is checked first, and a caller without tenant restrictions needs no tenant in the body',
  async (t) => {
    for (const route of [...BY_TENANT, OF_ALL]) {
      const body = { processDefinitionKey: 'shared' }
      t.match(await suspend('nobody', route, body), { status: 403, error: undefined, sent: 0 }, route)
      t.match(await suspend('demo', route, body), { status: 204, sent: 1 }, route)
    }
  },
)

t.test('a body with a key and an id is sent, because the engine refuses it', async (t) => {
  const body = { processDefinitionKey: 'shared', processDefinitionId: 'shared:acme' }
  t.match(await suspend('mary', OF_ALL, body), { sent: 1 })
})

t.test('explain and the request agree, with and without the record that explain names', async (t) => {
  const without = await openGateway(t, { records: [], engine })
  const explain = createExplain(without.dependencies, buildDryRun)
  for (const route of [...BY_TENANT, OF_ALL])
    for (const [key, error] of [
      ['shared', 'GW_CHECK_NOT_EXACT'],
      ['many', 'GW_CHECK_NOT_EXACT'],
      ['ours', undefined],
    ] as const) {
      const body = { processDefinitionKey: key, suspended: true }
      const explained = await explain(questionOf({ user: 'mary', request: route, body }))
      const refused = await without.ask('mary', route, { body })
      t.match(refused, { status: 403, body: { type: 'AuthorizationException' } }, route)
      t.same(explained.response?.body, refused.body, route)
      const grants = explained.policy?.grants ?? []
      const resources = new Set(grants.map(({ resourceType, resourceId }) => `${resourceType} ${resourceId}`))
      t.same([...resources], [`${RESOURCES.PROCESS_DEFINITION.id} ${key}`], route)
      t.ok(grants.every(({ permissions }) => permissions.every((name) => RIGHTS.split(',').includes(name))))

      // At the other gateway, Mary has these records.
      const then = await ask('mary', route, { body })
      const isPermitted = error === undefined
      t.equal(then.status, isPermitted ? 204 : 403, `${route} ${key}`)
      t.equal(then.headers['x-gateway-error'], error)
      t.equal(explained.policy?.sufficient, isPermitted, `${route} ${key}`)
      const text = textOfExplained(explained)
      for (const grant of grants) t.ok(text.includes(lineOfRecord(grant)))
      t.equal(text.includes('These records would permit it (tested):'), isPermitted, text)
      t.equal(
        text.includes('With these records, the request is still refused: 403 (GW_CHECK_NOT_EXACT)'),
        !isPermitted,
        text,
      )
    }
})

t.test('explain and the request agree for permitted and for refused keys', async (t) => {
  const explain = createExplain(dependencies, buildDryRun)
  for (const request of [...BY_TENANT, OF_ALL])
    for (const processDefinitionKey of ['shared', 'many', 'ours']) {
      const body = { processDefinitionKey, suspended: true }
      const { response } = await explain(questionOf({ user: 'mary', request, body }))
      const { status, headers } = await ask('mary', request, { body })
      t.equal(response?.status ?? 204, status, `${request} ${processDefinitionKey}`)
      t.equal(response?.error ?? undefined, headers['x-gateway-error'])
    }
})

t.test('suggest names no record for a reported request that no record permits', async (t) => {
  for (const route of [...BY_TENANT, OF_ALL]) {
    const audits: string[] = []
    const { ask: report } = await openGateway(t, {
      records: [],
      engine,
      settings: { authorization: { mode: 'report', records: { source: 'file', file: 'records.yaml' } } },
      wrap: (own) => ({
        ...own,
        audit: (audit) => audits.push(`${JSON.stringify(auditRecordOf(audit))}\n`),
      }),
    })
    for (const processDefinitionKey of ['shared', 'ours'])
      t.equal((await report('mary', route, { body: { processDefinitionKey } })).status, 204)
    const { out } = await runInProcess(['suggest'], Readable.from(audits))
    t.match(out, /resourceId: ours/, route)
    t.notMatch(out, /resourceId: shared/, route)
    t.match(out, /^# No record would change:\n# {3}\w+ by mary: GW_CHECK_NOT_EXACT: 1 time$/m, route)
  }
})
