import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Operation } from '../../src/operations/table.ts'
import { compilePolicies } from '../../src/policy/authz/compile-policies.ts'
import type { CompiledCheck } from '../../src/policy/authz/checks/compiled-check.ts'
import type { Permission } from '../../src/policy/authz/checks/compiled-permission.ts'

interface Asking {
  readonly operation: Operation
  readonly check: CompiledCheck
  readonly permission: Permission
}

const CHECKS = [...compilePolicies(OPERATIONS).values()].flatMap(({ operation, checks }) =>
  [...checks.before, ...checks.after].map((check) => ({ operation, check })),
)
const ASKED: readonly Asking[] = CHECKS.flatMap(({ operation, check }) =>
  check.permissions.map((permission) => ({ operation, check, permission })),
)

t.test('every check requires a permission or an admin', (t) => {
  const empty = CHECKS.filter(({ check }) => !check.admin && check.permissions.length === 0)
  t.same(idsOf(empty), [])
  t.end()
})

t.test('a check that is denied with 404 has a response for a missing entity', (t) => {
  const silent = CHECKS.filter(({ check }) => check.denied === 404 && check.notFound === null)
  t.same(idsOf(silent), [])
  t.end()
})

t.test('a check that looks up an entity by the path has a response for a missing one', (t) => {
  const silent = ASKED.filter(
    ({ check, permission: { attribute } }) =>
      attribute.from === 'lookup' && attribute.by.from === 'path' && check.notFound === null,
  )
  t.same(idsOf(silent), [])
  t.end()
})

t.test('a check on an id of the path names a parameter of the path', (t) => {
  const wrong = ASKED.filter(({ operation: { template }, permission: { attribute } }) => {
    const name = attribute.from === 'path' ? attribute.name : null
    return name !== null && !template.split('/').includes(`:${name}`)
  })
  t.same(idsOf(wrong), [])
  t.end()
})

// A lookup by a missing parameter would find nothing, and a check on nothing would permit every caller.
t.test('a check looks up an entity by a parameter of the path', (t) => {
  const wrong = ASKED.filter(({ operation: { template }, permission: { attribute } }) => {
    const name = attribute.from === 'lookup' && attribute.by.from === 'path' ? attribute.by.name : null
    return name !== null && !template.split('/').includes(`:${name}`)
  })
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('a check refers to members of a set only if it names a set, and never to items', (t) => {
  const wrong = ASKED.filter(
    ({ check, permission: { attribute } }) =>
      attribute.from === 'item' || (attribute.from === 'each' && check.each === null),
  )
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('a check after the request refers to the created entity, and no other check does', (t) => {
  const wrong = ASKED.filter(
    ({ check, permission }) => (permission.attribute.from === 'created') !== check.after,
  )
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('the response for a missing entity names only parameters of the path', (t) => {
  const wrong = CHECKS.filter(({ operation: { method, template, checks, notFound }, check }) => {
    const text = checks[check.index]?.notFound ?? notFound
    const names = [...(text ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    const hasBody = method === 'POST' || method === 'PUT'
    return !hasBody && names.some((name) => !template.split('/').includes(`:${name}`))
  })
  t.same(idsOf(wrong), [])
  t.end()
})

function idsOf(found: readonly { readonly operation: Operation }[]): readonly string[] {
  return [...new Set(found.map(({ operation }) => operation.id))]
}

/** Permissions that only allow a caller to read. */
const READING = /\.READ\w*( |$)/

const WRITES = OPERATIONS.filter(({ effect }) => effect === 'write')

function isMore(term: string): boolean {
  return !READING.test(term)
}

/** Returns whether any of the checks requires more than a read permission. */
function asksForMore(checks: Operation['checks']): boolean {
  return checks.some(
    ({ admin, anyOf = [], allOf = [] }) => admin === true || anyOf.some(isMore) || allOf.some(isMore),
  )
}

t.test('every write except six requires more than a read permission', (t) => {
  const open = WRITES.filter(({ checks }) => !asksForMore(checks.filter(({ after }) => after !== true)))
  t.same(open.map(({ id }) => id).sort(), [
    'addAttachment',
    'configureTelemetry',
    'createComment',
    'deleteAttachment',
    'fetchAndLock',
    'verifyUser',
  ])
  t.end()
})

t.test('only eight writes require more than a read permission by a condition on the request', (t) => {
  const always = WRITES.filter(({ checks }) => asksForMore(checks.filter(({ when }) => when === undefined)))
  const byRequest = WRITES.filter((row) => asksForMore(row.checks) && !always.includes(row))
  t.same(byRequest.map(({ id }) => id).sort(), [
    'executeMigrationPlan',
    'executeMigrationPlanAsync',
    'updateGroup',
    'updateJobSuspensionState',
    'updateProfile',
    'updateSuspensionStateBy',
    'updateSuspensionStateJobDefinitions',
    'updateTenant',
  ])
  t.end()
})

t.test('only known writes are denied with 404, as if the entity did not exist', (t) => {
  const hiding = WRITES.filter(({ checks }) => checks.some(({ denied }) => denied === 404))
  t.same(hiding.map(({ id }) => id).sort(), [
    'createAuthorization',
    'deleteAuthorization',
    'deleteDeployment',
    'deleteProcessDefinitionsByKey',
    'deleteProcessDefinitionsByKeyAndTenantId',
    'deleteProcessInstanceComment',
    'deleteProcessInstanceComments',
    'deleteTaskComment',
    'deleteTaskComments',
    'evaluateDecisionByKey',
    'evaluateDecisionByKeyAndTenant',
    'redeploy',
    'startProcessInstanceByKey',
    'startProcessInstanceByKeyAndTenantId',
    'submitFormByKey',
    'submitFormByKeyAndTenantId',
    'updateAuthorization',
    'updateCredentials',
    'updateGroup',
    'updateHistoryTimeToLiveByDecisionDefinitionKey',
    'updateHistoryTimeToLiveByDecisionDefinitionKeyAndTenant',
    'updateHistoryTimeToLiveByProcessDefinitionKey',
    'updateHistoryTimeToLiveByProcessDefinitionKeyAndTenantId',
    'updateProcessDefinitionSuspensionStateByKey',
    'updateProcessDefinitionSuspensionStateByKeyAndTenantId',
    'updateProcessInstanceComment',
    'updateProfile',
    'updateTask',
    'updateTaskComment',
    'updateTenant',
  ])
  t.end()
})

t.test('system data requires an admin or SYSTEM.READ, and the telemetry configuration an admin', (t) => {
  const rows = OPERATIONS.filter(
    ({ effect, checks }) => effect === 'read' && checks.some(({ admin }) => admin),
  )
  t.same(
    rows.map(({ id, checks }) => [id, checks.map(({ anyOf = [] }) => anyOf.join())]),
    [
      ['getRegisteredDeployments', ['SYSTEM.READ']],
      ['queryOwnAuthorizations', ['']],
      ['getConfiguration', ['']],
      ['getConfigurations', ['']],
      ['getConfigurationById', ['']],
      ['getProcessInstanceIncidentStatistics', ['']],
      ['getProcessInstanceStatistics', ['']],
      ['getScriptSecurityConfig', ['']],
      ['getScriptViolations', ['']],
      ['getScriptViolationsCount', ['']],
      ['getAttachmentsCount', ['']],
      ['getCommentsCount', ['']],
      ['getSchemaLog', ['SYSTEM.READ']],
      ['querySchemaLog', ['SYSTEM.READ']],
      ['getTelemetryData', ['SYSTEM.READ']],
    ],
  )
  t.end()
})
