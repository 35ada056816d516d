import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { Operation } from '../../../src/operations/table.ts'
import { javaSkip } from '../../support/requirements.ts'
import { publishedOperations } from './openapi.ts'

/** Members of a body that name entities by id, key or query. */
const NAMES = /(Id|Ids|IdIn|Key|Instances|Query)$/
/** Members among these that name no entity of a tenant. */
const UNTENANTED =
  /^(user|group|worker|resource)Ids?$|^resourceIds$|^(business|withoutBusiness|form|taskDefinition)Key$|^include/

/**
 * Members that a secured engine uses unchecked, whoever owns the entity (observed with Camunda 7.22): ids of a batch
 * that is created, entities that the path already names, and values that an operation only stores.
 */
const FREE: Readonly<Record<string, readonly string[]>> = {
  createComment: ['processInstanceId', 'rootProcessInstanceId', 'taskId'],
  createTask: [
    'caseDefinitionId',
    'caseExecutionId',
    'caseInstanceId',
    'executionId',
    'parentTaskId',
    'processDefinitionId',
    'processInstanceId',
  ],
  executeModificationAsync: ['processDefinitionId'],
  startProcessInstance: ['caseInstanceId'],
  startProcessInstanceByKey: ['caseInstanceId'],
  startProcessInstanceByKeyAndTenantId: ['caseInstanceId'],
  updateProcessDefinitionSuspensionState: ['processDefinitionId'],
  updateProcessDefinitionSuspensionStateById: ['processDefinitionId', 'processDefinitionKey'],
  updateProcessDefinitionSuspensionStateByKey: ['processDefinitionId', 'processDefinitionKey'],
  updateProcessDefinitionSuspensionStateByKeyAndTenantId: ['processDefinitionId', 'processDefinitionKey'],
  updateTask: [
    'caseDefinitionId',
    'caseExecutionId',
    'caseInstanceId',
    'executionId',
    'parentTaskId',
    'processDefinitionId',
    'processInstanceId',
  ],
}

/** Members with which the targets of these operations and their tenants are found (src/policy/authz/entities/targets.ts). */
const FINDERS: Readonly<Record<string, readonly string[]>> = {
  deliverMessage: ['processInstanceId', 'tenantId', 'withoutTenantId'],
  evaluateCondition: ['tenantId', 'withoutTenantId'],
  executeModification: ['processDefinitionId'],
  throwSignal: ['executionId', 'tenantId', 'withoutTenantId'],
}

t.test('entities in a body are looked up, resolved or listed as unchecked', { skip: javaSkip }, async (t) => {
  const published = await publishedOperations()
  for (const { operationId: id, members } of published) {
    const operation = OPERATIONS.find((one) => one.id === id)
    if (operation === undefined || operation.items !== undefined) continue
    const unknown = members.filter((member) => NAMES.test(member) && !isKnown(operation, member))
    t.same(unknown, [], id)
  }
  const free = Object.entries(FREE).filter(([id, names]) => {
    const members = published.find(({ operationId }) => operationId === id)?.members ?? []
    return names.some((name) => !members.includes(name))
  })
  t.same(free, [], 'nothing stands here that is not published')
})

t.test('every query in a body is resolved to the visible entities', { skip: javaSkip }, async (t) => {
  for (const { operationId: id, members } of await publishedOperations()) {
    const { selectors, items } = OPERATIONS.find((one) => one.id === id) ?? {}
    const queries = members.filter((member) => member.endsWith('Query'))
    if (items === undefined) t.same(Object.keys(selectors?.queries ?? {}).sort(), queries.sort(), id)
  }
})

function isKnown(
  {
    id,
    checks,
    loads,
    selectors: { queries, ids } = { queries: {}, ids: {} },
    preconditions: first = [],
    actsOnKey,
  }: Operation,
  member: string,
) {
  const told: readonly unknown[] = [
    ids[member],
    Object.hasOwn(queries, member),
    FREE[id]?.includes(member),
    FINDERS[id]?.includes(member),
    actsOnKey !== undefined && /^processDefinition(Key|TenantId|WithoutTenantId)$/.test(member),
    UNTENANTED.test(member),
    Object.values(queries).includes(member),
    [loads, JSON.stringify(checks)].some((text) => text?.includes(`(body:${member})`)),
    first.some(({ when }) => when === `body:${member} of another tenant`),
  ]
  return told.some((one) => one !== undefined && one !== false)
}
