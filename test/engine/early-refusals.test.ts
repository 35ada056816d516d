import { test } from 'tap'
import { idOf } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import { buildWorld } from '../differential/world.ts'
import { javaSkip } from '../support/requirements.ts'
import { startSecuredPair } from './secured-pair.ts'

const CALLERS = [
  { user: 'nothing', records: [] },
  { user: 'every', records: [6, 7, 8].map((resourceType) => ({ resourceType, permissions: ['ALL'] })) },
  { user: 'office', records: [{ resourceType: 6, permissions: ['ALL'], resourceId: 'office' }] },
]

const SELECTORS = [
  ['processDefinitionId', 'processDefinitionKey'],
  ['processInstanceId', 'processDefinitionId'],
  ['processInstanceId', 'processDefinitionKey'],
  ['processInstanceId', 'jobDefinitionId'],
  ['jobDefinitionId', 'processDefinitionKey'],
  ['jobDefinitionId', 'processDefinitionId'],
  ['jobId', 'processDefinitionId'],
  ['jobDefinitionId', 'processDefinitionId', 'processDefinitionKey'],
  ['processDefinitionId'],
  ['processDefinitionKey'],
  ['jobDefinitionId'],
  ['processInstanceId'],
]
const GROUPS = [
  { processInstanceIds: ['nosuch'], processDefinitionId: 'nosuch' },
  { processInstanceIds: [], processDefinitionKey: 'nosuch' },
  { processInstanceQuery: {}, processDefinitionKey: 'nosuch' },
  { historicProcessInstanceQuery: {}, processDefinitionId: 'nosuch' },
  { processInstanceIds: ['nosuch'], processDefinitionId: 'nosuch', processDefinitionKey: 'nosuch' },
  { processInstanceIds: ['nosuch'] },
]
const BAD_STATISTICS = [
  'canceled=maybe&finished=maybe',
  'finished=maybe&canceled=maybe',
  'sortBy=x&sortOrder=y',
  'startedAfter=x&startedBefore=y',
  'finished=x&sortBy=nosuch',
  'startedAfter=x&sortOrder=y',
  'incidents=x&canceled=y&finished=z&startedAfter=w',
  'finishedBefore=x&finishedAfter=y&completeScope=z&other=1',
]
const SORTS = ['caseInstanceId', 'caseDefinitionId', 'tenantId', 'nosuch']

for (const family of ['camunda', 'camunda-7.24.0', 'operaton'] as const)
  void test(`${family}: refusals before a look-up, and counts with members of lists, are those of a secured engine`, {
    skip: javaSkip,
  }, async (t) => {
    const { admin, open } = await startSecuredPair(t, family)
    await buildWorld(admin, () => undefined)
    const known = idOf(await admin.call('GET', '/process-definition?key=office&maxResults=1'))
    const task = idOf(await admin.call('GET', '/task?processDefinitionKey=office&maxResults=1'))
    const { engine, gateway } = await open(CALLERS)
    let refusals = 0
    for (const ask of [...suspensions(known), ...statistics(known), ...counts(), ...missingOperations(task)])
      for (const { user } of CALLERS) {
        const [there, here] = [await engine(user, ask), await gateway(user, ask)]
        const what = `${user}: ${ask.method} ${ask.path} ${JSON.stringify(ask.body ?? null)}`
        t.equal(here.status, there.status, what)
        t.same(here.body, there.body, what)
        if (there.status === 400) refusals += 1
      }
    t.ok(refusals > 100, `${refusals} refusals`)
  })

function suspensions(known: string): readonly Ask[] {
  const named = SELECTORS.map((names) => Object.fromEntries(names.map((name) => [name, 'nosuch'])))
  const bodies = [
    ...named,
    ...GROUPS,
    { processDefinitionId: known, processDefinitionKey: 'office' },
    { processDefinitionId: '', processDefinitionKey: 'nosuch' },
  ]
  return ['/job', '/job-definition', '/process-instance'].flatMap((path) =>
    bodies.map(
      (body): Ask => ({
        method: 'PUT',
        path: `${path}/suspended`,
        body: { ...body, suspended: false },
      }),
    ),
  )
}

function statistics(known: string): readonly Ask[] {
  const both = 'incidents=true&incidentsForType=x'
  const paths = [known, 'nosuch'].flatMap((id) => [
    ...BAD_STATISTICS.map((query) => `/history/process-definition/${id}/statistics?${query}`),
    `/process-definition/${id}/statistics?${both}`,
    `/process-definition/${id}/statistics?incidents=false&incidentsForType=x`,
  ])
  const ofKeys = ['office', 'nosuch', 'mail', 'office/tenant-id/acme', 'office/tenant-id/nosuch'].flatMap(
    (key) =>
      [both, 'incidents=true&failedJobs=maybe'].map(
        (query) => `/process-definition/key/${key}/statistics?${query}`,
      ),
  )
  return [
    ...paths,
    ...ofKeys,
    `/process-definition/statistics?${both}`,
    '/process-definition/nosuch/statistics',
  ].map((path): Ask => ({ method: 'GET', path }))
}

function counts(): readonly Ask[] {
  return ['/history/task', '/task', '/process-instance', '/variable-instance', '/job'].flatMap((path) =>
    [
      ...SORTS.map((sortBy) => ({ sorting: [{ sortBy, sortOrder: 'asc' }] })),
      { sorting: [{ sortBy: 'tenantId' }] },
      { sortBy: 'tenantId', sortOrder: 'asc' },
      { firstResult: 3, maxResults: 1 },
      { withTaskVariablesInReturn: true, withCommentAttachmentInfo: true },
    ].map((body): Ask => ({ method: 'POST', path: `${path}/count`, body })),
  )
}

/** Operations that only forks have. These engines read the last part of each path as an id. */
function missingOperations(task: string): readonly Ask[] {
  return [
    '/authorization/self',
    ...[task, 'nosuch'].flatMap((id) => [`/task/${id}/comment/count`, `/task/${id}/attachment/count`]),
  ].map((path): Ask => ({ method: 'GET', path }))
}
