import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { LookupName } from '../../src/operations/lookup-name.ts'
import type { Operation, Row } from '../../src/operations/table.ts'
import { operationsOf } from '../../src/operations/compile-table.ts'
import { namedBy, UNTENANTED_LOOKUPS } from '../../src/operations/tenanted.ts'
import { hasTenant, isLookup, LOOKUPS } from '../../src/policy/authz/entities/lookup-rules.ts'

/** How many rows know the tenant of what they name in which way. */
const WAYS: Readonly<Record<string, number>> = {
  batch: 3,
  'byKey: all': 1,
  'byKey: one tenant': 3,
  conditionalStarts: 1,
  correlatedDefinitions: 1,
  correlatedExecutions: 1,
  decisionDefinition: 5,
  decisionDefinitionOfKey: 10,
  decisionRequirementsDefinition: 4,
  decisionRequirementsDefinitionOfKey: 6,
  deployment: 6,
  executedJob: 1,
  execution: 22,
  externalTask: 10,
  externalTasks: 1,
  'resolvesIds: historicBatchIds': 1,
  historicActivityInstance: 1,
  historicBatch: 2,
  historicDecisionInstance: 1,
  historicDetail: 2,
  historicExternalTaskLog: 2,
  historicJobLog: 2,
  historicProcessInstance: 7,
  historicTask: 7,
  historicVariableInstance: 3,
  incident: 4,
  job: 7,
  jobDefinition: 3,
  jobDefinitions: 1,
  jobHistoricInstances: 1,
  jobInstances: 1,
  jobJobs: 1,
  jobOfInstance: 1,
  messageSubscription: 1,
  modifiedInstances: 1,
  'not asked for': 9,
  'operationLogEntry(path:operationId)': 2,
  processDefinition: 15,
  processDefinitionOfKey: 26,
  processInstance: 1,
  'processInstance(body:processInstanceId)': 1,
  processInstances: 1,
  rows: 1,
  signalStarts: 1,
  signalSubscriptions: 1,
  task: 33,
  variableInstance: 2,
}

/** A secured engine does not look at the tenant of what these name (seen running, Camunda 7.22). */
const IGNORED = [
  'deleteAttachment',
  'getAttachment',
  'getAttachmentData',
  'getComment',
  'getHistoricActivityStatistics',
  'modifyProcessInstanceAsyncOperation',
  'queryHistoricActivityStatistics',
  'restartProcessInstance',
  'updateSuspensionStateJobDefinition',
]

const rowOf = ({ method, template, ...row }: Operation): Row => ({
  ...row,
  route: `${method} /${template.slice(1)}`,
  retry: 'always',
})

const WRONG: readonly (readonly [claim: string, row: Row])[] = [
  [
    'a permission on the id of the path alone',
    {
      route: 'GET /process-instance/:id',
      checks: [{ anyOf: ['PROCESS_INSTANCE.READ path:id'], denied: 404 }],
    },
  ],
  ['no check at all', { route: 'GET /task/:id/secret', checks: [] }],
  ['a path that nobody has named before', { route: 'GET /history/novelty/:id', checks: [] }],
  [
    'an entity that has no tenant',
    { route: 'PUT /deployment/:id/owner/:userId', checks: [], entity: 'user(path:userId)' },
  ],
  [
    'a look-up that is left out where the body does not ask for it',
    {
      route: 'PUT /task/:id/x',
      checks: [
        {
          when: 'body:a given',
          anyOf: ['PROCESS_DEFINITION.UPDATE_TASK task.processDefinitionKey'],
          denied: 403,
        },
      ],
    },
  ],
  [
    'an instance in the body',
    { route: 'POST /x', checks: [{ anyOf: ['PROCESS_INSTANCE.UPDATE body:instanceId'], denied: 403 }] },
  ],
  [
    'a key in the body',
    {
      route: 'POST /x',
      checks: [{ anyOf: ['PROCESS_DEFINITION.UPDATE body:processDefinitionKey'], denied: 403 }],
    },
  ],
  [
    'a batch in the query',
    { route: 'GET /x', checks: [{ anyOf: ['BATCH.READ query:batchId'], denied: 403 }] },
  ],
  [
    'ids in the body',
    { route: 'POST /x', checks: [{ each: 'body:ids[]', anyOf: ['BATCH.READ each.id'], denied: 403 }] },
  ],
]

for (const [claim, row] of WRONG)
  t.test(`a row that names ${claim} is refused by its name`, (t) => {
    t.throws(() => operationsOf([{ newcomer: row }]), {
      message: new RegExp(`newcomer \\(${row.route}\\), which does not say how the tenant`),
    })
    t.end()
  })

t.test('a row that says how its tenant is known is not', (t) => {
  for (const row of [
    { route: 'GET /process-instance/:id', checks: [], entity: 'processInstance' },
    { route: 'GET /task/:id/secret', checks: [], otherTenant: 'ignored' },
    { route: 'GET /user/:id/novelty', checks: [] },
    {
      route: 'POST /x',
      checks: [{ each: 'body:ids[]', anyOf: ['BATCH.READ each.id'], denied: 403 }],
      resolvesIds: { ids: { list: 'getBatches', by: 'batchId', single: true } },
    },
  ] as const satisfies readonly Row[])
    t.doesNotThrow(() => operationsOf([{ newcomer: row }]), row.route)
  t.end()
})

t.test('every row that names what may be of a tenant says how that is known', (t) => {
  const ways: Record<string, number> = {}
  const ignoring: string[] = []
  for (const operation of OPERATIONS)
    for (const { member, knownBy } of namedBy(rowOf(operation))) {
      t.type(knownBy, 'string', `${operation.id} ${member}`)
      ways[`${knownBy}`] = (ways[`${knownBy}`] ?? 0) + 1
      if (knownBy === 'not asked for') ignoring.push(operation.id)
    }
  t.same(ways, WAYS)
  t.same(ignoring.sort(), IGNORED)
  t.end()
})

t.test('what is looked up for its tenant gives it', (t) => {
  for (const lookup of Object.keys(LOOKUPS).filter((name): name is LookupName => isLookup(name)))
    t.equal(hasTenant({ lookup }), !UNTENANTED_LOOKUPS.has(lookup), lookup)
  t.end()
})
