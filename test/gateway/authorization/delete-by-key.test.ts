import t from 'tap'
import { buildDryRun } from '../../../src/gateway.ts'
import { createExplain, questionOf } from '../../../src/pipeline/explain.ts'
import { textOfExplained } from '../../../src/pipeline/explain-text.ts'
import { BASE, type GatewayOptions, openGateway } from '../../support/open-gateway.ts'

const versionOf = (key: string, version: number, tenantId: string | null) => ({
  id: `${key}:${version}:${tenantId}`,
  key,
  version,
  tenantId,
})

/** Definitions by key, version and tenant. Mary is a member of acme. */
const DEFINITIONS = [
  versionOf('ours', 1, null),
  versionOf('ours', 1, 'acme'),
  versionOf('ours', 2, 'acme'),
  versionOf('shared', 1, 'acme'),
  versionOf('shared', 2, 'acme'),
  versionOf('shared', 1, 'globex'),
  versionOf('old', 1, 'acme'),
  versionOf('old', 2, 'globex'),
  versionOf('comma', 1, 'a,b'),
  versionOf('kept-ours', 1, 'acme'),
  versionOf('kept-shared', 1, 'globex'),
  versionOf('kept-shared', 2, 'acme'),
  versionOf('kept-old', 1, 'acme'),
  versionOf('kept-old', 2, 'globex'),
]

/** Lists definitions by the engine's own rules for `tenantIdIn` and for the order. */
const engine: GatewayOptions['engine'] = ({ method, url }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://engine')
  const tenants = searchParams.get('tenantIdIn')?.split(',')
  const rows = DEFINITIONS.filter(
    ({ key, tenantId }) =>
      key === searchParams.get('key') &&
      (tenants === undefined || (tenantId !== null && tenants.includes(tenantId))),
  )
  const isNewestFirst = searchParams.get('sortBy') === 'version' && searchParams.get('sortOrder') === 'desc'
  const sorted = isNewestFirst ? rows.toSorted((one, other) => other.version - one.version) : rows
  const isList = pathname === `${BASE}/process-definition`
  response.writeHead(method === 'DELETE' ? 204 : isList ? 200 : 404, { 'content-type': 'application/json' })
  response.end(
    isList ? JSON.stringify(sorted.slice(0, Number(searchParams.get('maxResults') ?? Infinity))) : '',
  )
}

const { ask, dependencies } = await openGateway(t, {
  records: [
    ...['ours', 'shared', 'old', 'gone', 'comma'].map((key) => `grant mary PROCESS_DEFINITION:${key} DELETE`),
    'grant mary PROCESS_DEFINITION:* READ,UPDATE',
  ],
  engine,
})

const explain = createExplain(dependencies, buildDryRun)

async function remove(user: string, path: string) {
  const route = `DELETE /process-definition/key/${path}/delete`
  const { status, headers, body, forwarded } = await ask(user, route)
  const { response } = await explain(questionOf({ user, request: route }))
  t.equal(response?.status ?? 204, status, `explain and the request agree: ${user} ${path}`)
  if (response !== null) t.same(response.body, body, `${user} ${path}`)
  const sent = forwarded.filter(({ method }) => method === 'DELETE')
  return { status, error: headers['x-gateway-error'], said: body, sent: sent.map(({ url }) => url) }
}

const foreign = (id: string) => ({
  status: 500,
  said: {
    type: 'ProcessEngineException',
    message: `ENGINE-13034 Cannot delete the process definition '${id}' because it belongs to no authenticated tenant.`,
    code: 0,
  },
  sent: [],
})

t.test(
  'DELETE suffices to delete all versions if each has no tenant or a tenant of the caller',
  async (t) => {
    t.match(await remove('mary', 'ours'), {
      status: 204,
      sent: [`${BASE}/process-definition/key/ours/delete`],
    })
    for (const key of ['ours', 'shared', 'old'])
      t.match(await remove('mary', `${key}/tenant-id/acme`), {
        status: 204,
        sent: [`${BASE}/process-definition/key/${key}/tenant-id/acme/delete`],
      })
  },
)

t.test('nothing is deleted if one version belongs to another tenant', async (t) => {
  // Deleting the latest version without a tenant, or the latest version of the caller’s tenant, would be permitted.
  t.match(await remove('mary', 'shared'), foreign('shared:1:globex'))
  t.match(await remove('mary', 'old'), foreign('old:2:globex'))
  t.match(await remove('mary', 'shared/tenant-id/globex'), foreign('shared:1:globex'))
})

t.test('an unknown key gets 404 before any permission check and is not sent to the engine', async (t) => {
  for (const user of ['mary', 'nobody'])
    for (const path of ['gone', 'gone/tenant-id/acme', 'ours/tenant-id/globex', 'ours/tenant-id/nosuch'])
      t.match(await remove(user, path), {
        status: 404,
        said: {
          type: 'InvalidRequestException',
          message: `No process definition found with key '${path.split('/', 1)[0]}': processDefinitions is empty`,
          code: null,
        },
        sent: [],
      })
})

t.test('versions are checked from the newest on: the tenant of each, then the permission', async (t) => {
  const forbidden = { status: 403, said: { type: 'AuthorizationException' }, sent: [] }
  // Mary has permissions on these keys, but not DELETE.
  t.match(await remove('mary', 'kept-shared'), forbidden)
  t.match(await remove('mary', 'kept-old'), foreign('kept-old:2:globex'))
  t.match(await remove('mary', 'kept-shared/tenant-id/globex'), foreign('kept-shared:1:globex'))
  t.match(await remove('mary', 'kept-old/tenant-id/acme'), forbidden)
  t.match(await remove('mary', 'kept-ours'), {
    ...forbidden,
    said: {
      ...forbidden.said,
      missingAuthorizations: [
        { permissionName: 'DELETE', resourceName: 'ProcessDefinition', resourceId: 'kept-ours' },
      ],
    },
  })
})

t.test(
  'a caller without tenant restrictions deletes all versions, and the query string is passed on',
  async (t) => {
    const query = 'cascade=true&skipCustomListeners=true&skipIoMappings=false'
    const { status, forwarded } = await ask('demo', `DELETE /process-definition/key/shared/delete?${query}`)
    t.equal(status, 204)
    t.same(
      forwarded.map(({ method, url }) => [method, url]),
      [['DELETE', `${BASE}/process-definition/key/shared/delete?${query}`]],
    )
  },
)

t.test('a comma in a tenant id does not select other tenants', async (t) => {
  t.match(await remove('mary', 'comma/tenant-id/a%2Cb'), foreign('comma:1:a,b'))
  t.match(await remove('mary', 'ours/tenant-id/acme%2Cglobex'), { status: 404, sent: [] })
})

t.test('a key with more versions than the limit is refused', async (t) => {
  const many = await openGateway(t, {
    records: ['grant mary PROCESS_DEFINITION:* DELETE'],
    settings: { limits: { scannedItems: 100 } },
    engine: ({ method }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const rows = Array.from({ length: 101 }, (_, at) => versionOf('many', 101 - at, 'acme'))
      response.end(method === 'GET' ? JSON.stringify(rows) : '')
    },
  })
  const { status, headers, forwarded } = await many.ask('mary', 'DELETE /process-definition/key/many/delete')
  t.match({ status, error: headers['x-gateway-error'] }, { status: 403, error: 'GW_CHECK_NOT_EXACT' })
  t.same(
    forwarded.filter(({ method }) => method === 'DELETE'),
    [],
  )
})

function explainDelete(key: string) {
  return explain(questionOf({ user: 'mary', request: `DELETE /process-definition/key/${key}/delete` }))
}

t.test(
  'explain reports that no record is sufficient if a version of another tenant prevents the deletion',
  async (t) => {
    const shared = await explainDelete('kept-shared')
    t.equal(shared.policy?.sufficient, false)
    t.match(
      textOfExplained(shared),
      /With these records, the request is still refused: 500\n {2}another tenant's$/m,
    )
    const ours = await explainDelete('kept-ours')
    t.equal(ours.policy?.sufficient, true)
    t.match(textOfExplained(ours), /DELETE, for each of versionsOfKey: refused/)
  },
)

t.test('a successful deletion evicts the cached models of the definitions', async (t) => {
  let reads = 0
  const cached = await openGateway(t, {
    records: [],
    engine: ({ method, url }, response) => {
      const isXml = url.endsWith('/xml')
      if (isXml) reads += 1
      response.writeHead(method === 'DELETE' ? 204 : 200, { 'content-type': 'application/json' })
      response.end(method === 'DELETE' ? '' : JSON.stringify(isXml ? { id: 'x', bpmn20Xml: '<x/>' } : []))
    },
  })
  for (const path of ['ours', 'ours/tenant-id/acme']) {
    const before = reads
    const read = () => cached.ask('demo', `GET /process-definition/${path.length}/xml`)
    await read()
    await read()
    t.equal(reads, before + 1, 'the second read is a cache hit')
    t.equal((await cached.ask('demo', `DELETE /process-definition/key/${path}/delete`)).status, 204)
    await read()
    t.equal(reads, before + 2)
  }
})
