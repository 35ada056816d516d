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

t.test('every check asks for something, or for an admin', (t) => {
  const empty = CHECKS.filter(({ check }) => !check.admin && check.permissions.length === 0)
  t.same(idsOf(empty), [])
  t.end()
})

t.test('a refusal that looks like a missing entity says how a missing one looks', (t) => {
  const silent = CHECKS.filter(({ check }) => check.denied === 404 && check.notFound === null)
  t.same(idsOf(silent), [])
  t.end()
})

t.test('whatever is looked up by the path says what the engine answers where it is missing', (t) => {
  const silent = ASKED.filter(
    ({ check, permission: { attribute } }) =>
      attribute.from === 'lookup' && attribute.by.from === 'path' && check.notFound === null,
  )
  t.same(idsOf(silent), [])
  t.end()
})

t.test('an id of the path is one that the path has', (t) => {
  const wrong = ASKED.filter(({ operation: { template }, permission: { attribute } }) => {
    const name = attribute.from === 'path' ? attribute.name : null
    return name !== null && !template.split('/').includes(`:${name}`)
  })
  t.same(idsOf(wrong), [])
  t.end()
})

// A look-up by a parameter that is not there finds nothing, and a check of nothing lets everybody in.
t.test('an entity is looked up by a parameter that the path has', (t) => {
  const wrong = ASKED.filter(({ operation: { template }, permission: { attribute } }) => {
    const name = attribute.from === 'lookup' && attribute.by.from === 'path' ? attribute.by.name : null
    return name !== null && !template.split('/').includes(`:${name}`)
  })
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('members of a set are asked about only where a set is named, rows only in row restrictions', (t) => {
  const wrong = ASKED.filter(
    ({ check, permission: { attribute } }) =>
      attribute.from === 'row' || (attribute.from === 'each' && check.each === null),
  )
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('what was created is asked about only afterwards, and only that', (t) => {
  const wrong = ASKED.filter(
    ({ check, permission }) => (permission.attribute.from === 'created') !== check.after,
  )
  t.same(idsOf(wrong), [])
  t.end()
})

t.test('the answer for a missing entity names parameters that are there', (t) => {
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

/** Permissions that let a caller see, and no more. */
const READING = /\.READ\w*( |$)/

const WRITES = OPERATIONS.filter(({ retry }) => retry !== 'always')

function isMore(term: string): boolean {
  return !READING.test(term)
}

/** Whether some of the checks ask for more than to read. */
function asksForMore(checks: Operation['checks']): boolean {
  return checks.some(
    ({ admin, anyOf = [], allOf = [] }) => admin === true || anyOf.some(isMore) || allOf.some(isMore),
  )
}

t.test('every write asks for more than to read, but for these', (t) => {
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

t.test('a write asks for it whatever it is told, but for those that ask by what they are told', (t) => {
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

t.test('these writes look to who may not read as if there were nothing', (t) => {
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

t.test(
  'an admin, or who may see the system, sees what an engine is; whether it reports, an admin alone',
  (t) => {
    const rows = OPERATIONS.filter(
      ({ retry, checks }) => retry === 'always' && checks.some(({ admin }) => admin),
    )
    t.same(
      rows.map(({ id, checks }) => [id, checks.map(({ anyOf = [] }) => anyOf.join())]),
      [
        ['getRegisteredDeployments', ['SYSTEM.READ']],
        ['getConfiguration', ['']],
        ['getSchemaLog', ['SYSTEM.READ']],
        ['querySchemaLog', ['SYSTEM.READ']],
        ['getTelemetryData', ['SYSTEM.READ']],
      ],
    )
    t.end()
  },
)
