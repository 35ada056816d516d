import t from 'tap'
import type { LookupName } from '../../../../src/operations/lookup-name.ts'
import type { CheckCondition } from '../../../../src/operations/notation.ts'
import { compileCondition } from '../../../../src/policy/authz/checks/compile-condition.ts'
import { LoadedEntities } from '../../../../src/policy/authz/entities/loaded-entities.ts'
import type { Attributes } from '../../../../src/request/attributes.ts'

interface Asked {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
  /** The entity with the id of the path, `e1`. Null if it does not exist. */
  readonly entity?: readonly [LookupName, Attributes | null]
}

/** Returns whether a condition holds for a request of anna, of the tenant acme, for `e1`. */
function holds(when: CheckCondition, { body = {}, query = {}, entity }: Asked): boolean | null {
  const loaded = new LoadedEntities()
  if (entity !== undefined) loaded.add(entity[0], 'e1', entity[1])
  const accessRequest = {
    principal: { userId: 'anna', groups: [], tenants: ['acme'] },
    params: { id: 'e1' },
    query: new Map(Object.entries(query)),
    body,
  }
  return compileCondition(when).holds({ accessRequest, loaded, each: null, impliesFilters: true })
}

type Case = readonly [asked: Asked, expected: boolean | null]

const OF_MEMBERS: readonly (readonly [CheckCondition, ...(readonly Case[])])[] = [
  [
    'body:id given',
    [{ body: { id: 'a' } }, true],
    [{ body: { id: '' } }, true],
    [{ body: { id: 0 } }, true],
    [{ body: { id: null } }, false],
    [{ body: {} }, false],
    [{ body: null }, false],
    [{ query: { id: 'a' } }, false],
  ],
  [
    'query:withJobs is true',
    [{ query: { withJobs: 'true' } }, true],
    [{ query: { withJobs: 'TRUE' } }, true],
    [{ query: { withJobs: '1' } }, false],
    [{ query: {} }, false],
    [{ body: { withJobs: true } }, false],
  ],
  ['body:id absent', [{ body: { id: 'a' } }, false], [{ body: { id: null } }, true], [{ body: {} }, true]],
  [
    'body:includeJobs is true',
    [{ body: { includeJobs: true } }, true],
    [{ body: { includeJobs: 'TRUE' } }, true],
    [{ body: { includeJobs: false } }, false],
    [{ body: {} }, false],
    [{ query: { includeJobs: 'true' } }, false],
  ],
  [
    'body:processDefinitionKey given and body:includeJobs is true',
    [{ body: { processDefinitionKey: 'a', includeJobs: true } }, true],
    [{ body: { processDefinitionKey: 'a' } }, false],
    [{ body: { includeJobs: true } }, false],
  ],
  [
    'body:processDefinitionId absent and body:tenantId absent and body:withoutTenantId is not true',
    [{ body: {} }, true],
    [{ body: { withoutTenantId: false } }, true],
    [{ body: { withoutTenantId: true } }, false],
    [{ body: { tenantId: 'acme' } }, false],
    [{ body: { processDefinitionId: 'a' } }, false],
  ],
  [
    'body:tenantId of another tenant',
    [{ body: { tenantId: 'globex' } }, true],
    [{ body: { tenantId: '' } }, true],
    [{ body: { tenantId: 5 } }, true],
    [{ body: { tenantId: ['acme'] } }, true],
    [{ body: { tenantId: 'acme' } }, false],
    [{ body: { tenantId: null } }, false],
    [{ body: {} }, false],
  ],
  [
    'query:userId is another user',
    [{ query: { userId: 'mary' } }, true],
    [{ query: { userId: '' } }, true],
    [{ query: { userId: 'anna' } }, false],
    [{ query: {} }, false],
    [{ body: { userId: 'mary' } }, false],
  ],
  // A list without items restricts nothing.
  [
    'query:processDefinitionKeyIn given',
    [{ query: { processDefinitionKeyIn: 'a' } }, true],
    [{ query: { processDefinitionKeyIn: 'a,b' } }, true],
    [{ query: { processDefinitionKeyIn: ',' } }, false],
    [{ query: {} }, false],
  ],
  [
    'no definition given',
    [{}, true],
    [{ query: { processDefinitionKeyIn: ',', processDefinitionIdIn: ',' } }, true],
    [{ query: { processDefinitionKeyIn: 'a' } }, false],
    [{ query: { processDefinitionIdIn: 'a' } }, false],
    [{ body: { processDefinitionIdIn: 'a' } }, true],
  ],
]

const OF_ENTITIES: readonly (readonly [CheckCondition, LookupName, ...(readonly Case[])])[] = [
  [
    'the execution is no instance',
    'execution',
    [{ entity: ['execution', { processInstanceId: 'p1' }] }, true],
    [{ entity: ['execution', { processInstanceId: 'e1' }] }, false],
  ],
  [
    'the incident was not created by a caller',
    'incident',
    [{ entity: ['incident', { incidentType: 'failedJob' }] }, true],
    [{ entity: ['incident', { incidentType: 'failedExternalTask' }] }, true],
    [{ entity: ['incident', { incidentType: 'own' }] }, false],
    [{ entity: ['incident', { incidentType: null }] }, false],
  ],
  [
    'the job has an instance',
    'jobOfInstance',
    [{ entity: ['jobOfInstance', { processInstanceId: 'p1' }] }, true],
    [{ entity: ['jobOfInstance', { processInstanceId: null, processDefinitionKey: 'a' }] }, false],
    [{ entity: ['jobOfInstance', {}] }, false],
  ],
  [
    'the job has only a definition',
    'jobOfInstance',
    [{ entity: ['jobOfInstance', { processDefinitionKey: 'a' }] }, true],
    [{ entity: ['jobOfInstance', { processInstanceId: 'p1', processDefinitionKey: 'a' }] }, false],
    [{ entity: ['jobOfInstance', { processInstanceId: null, processDefinitionKey: null }] }, false],
  ],
  [
    'the job runs activate-job-definition or suspend-job-definition',
    'executedJob',
    [{ entity: ['executedJob', { command: 'activate-job-definition' }] }, true],
    [{ entity: ['executedJob', { command: 'suspend-job-definition' }] }, true],
    [{ entity: ['executedJob', { command: 'set-variables' }] }, false],
    [{ entity: ['executedJob', { command: null }] }, false],
    [{ entity: ['executedJob', {}] }, false],
  ],
  [
    'the job runs an unknown command',
    'executedJob',
    [{ entity: ['executedJob', { command: 'unknown' }] }, true],
    [{ entity: ['executedJob', { command: 'of-a-plugin' }] }, true],
    [{ entity: ['executedJob', { command: 'set-variables' }] }, false],
    [{ entity: ['executedJob', { command: 'history-cleanup' }] }, false],
    [{ entity: ['executedJob', { command: null }] }, false],
  ],
  [
    'the task belongs to a case',
    'task',
    [{ entity: ['task', { caseExecutionId: 'c1' }] }, true],
    [{ entity: ['task', { caseExecutionId: null, processInstanceId: 'p1' }] }, false],
  ],
  [
    'the task belongs to a process',
    'task',
    [{ entity: ['task', { processInstanceId: 'p1' }] }, true],
    [{ entity: ['task', { processInstanceId: null, caseExecutionId: 'c1' }] }, false],
  ],
  [
    'the owner of the filter changes',
    'filter',
    [{ body: { owner: 'amy' }, entity: ['filter', { owner: 'amy' }] }, false],
    [{ body: { owner: 'bob' }, entity: ['filter', { owner: 'amy' }] }, true],
    [{ body: {}, entity: ['filter', { owner: 'amy' }] }, true],
    [{ body: { owner: null }, entity: ['filter', { owner: null }] }, false],
  ],
  [
    'the worker does not hold the task',
    'externalTask',
    [{ body: { workerId: 'w2' }, entity: ['externalTask', { workerId: 'w1' }] }, true],
    [{ body: { workerId: 'w1' }, entity: ['externalTask', { workerId: 'w1' }] }, false],
    [{ body: { workerId: 'w1' }, entity: ['externalTask', { workerId: null }] }, true],
    [{ body: {}, entity: ['externalTask', { workerId: 'w1' }] }, false],
  ],
]

t.test('a condition on members is decided by the request', (t) => {
  for (const [when, ...cases] of OF_MEMBERS)
    for (const [asked, expected] of cases)
      t.equal(holds(when, asked), expected, `${when} ${JSON.stringify(asked)}`)
  t.end()
})

t.test('a condition on an entity is decided by its lookup', (t) => {
  for (const [when, lookup, ...cases] of OF_ENTITIES) {
    for (const [asked, expected] of cases)
      t.equal(holds(when, asked), expected, `${when} ${JSON.stringify(asked)}`)
    const body = { workerId: 'w1' }
    t.equal(holds(when, { body, entity: [lookup, null] }), false, `${when}: it is not there`)
    t.equal(holds(when, { body }), null, `${when}: nobody has looked`)
  }
  t.end()
})

t.test('a condition that only the engine can decide is not decided here', (t) => {
  for (const when of ['nothing is left active', 'the plan is valid'] as const) {
    t.equal(holds(when, {}), null, when)
    t.equal(compileCondition(when).ofEngine, when)
  }
  t.equal(compileCondition('the task belongs to a case').ofEngine, null)
  t.end()
})

t.test('a condition reports whether it reads the body or a tenant', (t) => {
  t.match(compileCondition('body:tenantId of another tenant'), { isOfBody: true, isOfTenant: true })
  t.match(compileCondition('body:id given'), { isOfBody: true, isOfTenant: false })
  t.match(compileCondition('query:userId is another user'), { isOfBody: false, isOfTenant: false })
  t.match(compileCondition('the task belongs to a case'), { isOfBody: false, isOfTenant: false })
  t.end()
})

t.test('a condition that the notation does not know is an error at startup', (t) => {
  const unknown = [
    'body:id',
    'body:id taken',
    'path:id given',
    'query:includeJobs is not true',
    'body:id given and',
    'body:id given or body:key given',
    'the body:id given',
    'body:id given twice',
    'body:.id given',
    'the job runs nosuch',
    'the job runs set-variables or nosuch',
    'the task',
    'toString',
    '',
  ]
  for (const when of unknown)
    t.throws(
      () => {
        // @ts-expect-error no such condition
        compileCondition(when)
      },
      new RegExp(`condition "${when}"`),
      when,
    )
  t.end()
})
