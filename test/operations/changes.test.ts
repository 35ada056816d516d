import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'

const KINDS = /^\/(authorization|user|group|tenant)(\/|$)/
/** Writes that change only names and addresses, which affect no decision. */
const HARMLESS: ReadonlySet<string> = new Set(['updateGroup', 'updateTenant'])

const isWrite = ({ method, template }: (typeof OPERATIONS)[number]): boolean =>
  method === 'PUT' || method === 'DELETE' || /\/(create|unlock)$/.test(template)

t.test('every write to users, groups, tenants and records lists its changes', (t) => {
  const writes = OPERATIONS.filter((row) => KINDS.test(row.template) && isWrite(row))
  t.equal(writes.length, 20)
  for (const { id, changes } of writes) t.equal(changes === undefined, HARMLESS.has(id), id)
  t.end()
})

t.test('the audit line of each of these writes names the change, with ids that the operation has', (t) => {
  for (const { id, template, auditedChange, effect } of OPERATIONS) {
    t.equal(auditedChange !== undefined, KINDS.test(template) && effect === 'write', id)
    const { action: _, ...places } = auditedChange ?? {}
    for (const place of Object.values(places).flatMap((text) => text.split(' ')))
      if (place.startsWith('path:')) t.ok(template.includes(`:${place.slice(5)}`), `${id}: ${place}`)
  }
  t.end()
})

t.test('no other operation changes identities or records', (t) => {
  for (const row of OPERATIONS.filter(({ changes = [] }) => changes.some((kind) => kind !== 'deployments'))) {
    t.ok(KINDS.test(row.template) && isWrite(row), row.id)
    t.equal(row.effect, 'write', row.id)
  }
  t.end()
})

t.test('every write to deployments and definitions evicts their cached responses', (t) => {
  const evicting = OPERATIONS.filter(({ changes = [] }) => changes.includes('deployments'))
  t.same(evicting.map(({ id }) => id).sort(), [
    'createDeployment',
    'deleteAllProcessDefinitionsByKey',
    'deleteAllProcessDefinitionsByKeyAndTenantId',
    'deleteDeployment',
    'deleteDeployments',
    'deleteProcessDefinition',
    'deleteProcessDefinitionsByKey',
    'deleteProcessDefinitionsByKeyAndTenantId',
    'redeploy',
  ])
  const ofDeployments = /^\/(deployment|(process|decision|decision-requirements|case)-definition)(\/|$)/
  for (const { id, effect, changes } of evicting)
    t.match({ effect, changes }, { effect: 'write', changes: ['deployments'] }, id)
  for (const { id, template, cache } of OPERATIONS)
    if (cache !== undefined && ofDeployments.test(template)) t.same(cache.tags, ['deployment'], id)
  t.end()
})
