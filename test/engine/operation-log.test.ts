import { test } from 'tap'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { type Json, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { buildWorld } from '../differential/world.ts'
import { javaSkip } from '../support/requirements.ts'
import { entriesOfKinds, executeLoggedOperations } from './logged-operations.ts'
import { startSecuredPair } from './secured-pair.ts'

const DEFINITIONS = { resourceType: RESOURCES.PROCESS_DEFINITION.id, permissions: ['READ_HISTORY'] }
const CATEGORIES = { resourceType: RESOURCES.OPERATION_LOG_CATEGORY.id, permissions: ['READ', 'UPDATE'] }
const AUDITORS = [
  { user: 'auditor', records: [CATEGORIES] },
  { user: 'member', tenants: ['acme'], records: [CATEGORIES] },
  { user: 'outsider', tenants: ['globex'], records: [CATEGORIES, DEFINITIONS] },
]
const CALLERS = [
  ...AUDITORS,
  { user: 'operator', records: [{ ...CATEGORIES, resourceId: 'Operator' }] },
  { user: 'keyed', records: [{ ...DEFINITIONS, resourceId: 'office' }] },
  { user: 'nothing', records: [] },
]
const PATH = '/history/user-operation'
const QUERIES = ['', '?entityType=ExternalTask', '?processDefinitionKey=office', '?property=suspensionState']

for (const family of ['camunda-7.24.0', 'operaton'] as const)
  void test(`the operation log of ${family} has the entries of a secured engine`, {
    skip: javaSkip,
  }, async (t) => {
    const { admin, open } = await startSecuredPair(t, family)
    await buildWorld(admin, () => undefined)
    await executeLoggedOperations(admin)
    const { engine, gateway } = await open(CALLERS)
    const entriesFor = async (user: string, query: string) => {
      const ask = { method: 'GET', path: `${PATH}${query}` } as const
      const [there, here] = [await engine(user, ask), await gateway(user, ask)]
      t.equal(here.status, 200, `${user} ${query} ${here.code}`)
      return { there: byId(there.body), here: byId(here.body) }
    }

    await t.test('of operations on existing entities, each caller sees the same entries', async (t) => {
      for (const { user } of CALLERS)
        for (const query of user === 'member' ? QUERIES : ['']) {
          const { there, here } = await entriesFor(user, query)
          t.same(differencesOf(there, here), [], `${user} ${query}: ${here.size} of ${there.size}`)
        }
      const { there: shown } = await entriesFor('member', '')
      const count = await gateway('member', { method: 'GET', path: `${PATH}/count` })
      t.same(count.body, { count: shown.size })
      const { there } = await entriesFor('auditor', '')
      t.ok(there.size > 400, `${there.size} entries`)
    })

    await t.test('the same operations are annotated as at a secured engine', async (t) => {
      const entries = entriesOfKinds(rowsOf(await admin.call('GET', PATH)))
      const statuses = new Set<number>()
      for (const { user } of AUDITORS.slice(0, 2))
        for (const entry of entries) {
          const path = `${PATH}/${textOf(entry, 'operationId')}/set-annotation`
          const ask = { method: 'PUT', path, body: { annotation: user } } as const
          const [there, here] = [await engine(user, ask), await gateway(user, ask)]
          t.same(here, { ...there, code: here.code }, `${user} ${JSON.stringify(entry)}`)
          statuses.add(there.status)
        }
      t.same(
        [...statuses].toSorted((one, other) => one - other),
        [204, 500],
      )
    })

    await t.test('entries of deleted batches and deployments are left out, and no others', async (t) => {
      const batches = rowsOf(await admin.call('GET', '/batch'))
      for (const tenantId of [null, 'acme']) {
        const batch = idOf(batches.filter((item) => item['tenantId'] === tenantId))
        await admin.call('DELETE', `/batch/${batch}?cascade=true`)
        const query = tenantId === null ? 'withoutTenantId=true' : `tenantIdIn=${tenantId}`
        const deployment = idOf(await admin.call('GET', `/deployment?name=gone&${query}`))
        await admin.call('DELETE', `/deployment/${deployment}`)
      }
      for (const { user } of CALLERS) {
        const { there, here } = await entriesFor(user, '')
        const differences = differencesOf(there, here)
        t.same(
          differences.filter(({ is }) => is === 'wider'),
          [],
          user,
        )
        t.same(
          differences.filter(({ entry }) => !mayNameDeleted(entry)),
          [],
          user,
        )
      }
    })
  })

function byId(body: unknown): ReadonlyMap<string, Json> {
  return new Map(rowsOf(body).map((entry) => [textOf(entry, 'id'), entry]))
}

type Entries = ReadonlyMap<string, Json>

function differencesOf(there: Entries, here: Entries) {
  return [
    ...[...there].flatMap(([id, entry]) => (here.has(id) ? [] : [{ is: 'missing', entry }])),
    ...[...here].flatMap(([id, entry]) => (there.has(id) ? [] : [{ is: 'wider', entry }])),
  ]
}

/** Returns whether an entry names a batch, a deployment or a job without an instance, or is an annotation of such an entry. */
function mayNameDeleted(entry: Json): boolean {
  const { processInstanceId, batchId, deploymentId, jobDefinitionId } = entry
  if (entry['entityType'] === 'OperationLog') return true
  return processInstanceId === null && (batchId ?? deploymentId ?? jobDefinitionId ?? null) !== null
}
