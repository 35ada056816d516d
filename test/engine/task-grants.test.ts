import { test, type Test } from 'tap'
import { type Admin, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { javaSkip } from '../support/requirements.ts'
import type { Family } from './build.ts'
import { type PairCaller, startSecuredPair } from './secured-pair.ts'

/*
 * Compares the task lists of users whose only grants are links to tasks: those that a secured engine grants while it writes the links,
 * and those that the gateway reads from the history. Both engines use one database.
 */

type Step = readonly [path: string, body: unknown]

const assign = (userId: string | null): Step => ['assignee', { userId }]
const link = (who: object, type = 'candidate'): Step => ['identity-links', { ...who, type }]
const unlink = (who: object, type = 'candidate'): Step => ['identity-links/delete', { ...who, type }]
const [ADA, BEN] = [{ userId: 'ada' }, { userId: 'ben' }]
// Only the links of one group have another type than `candidate`.
const [READERS, WRITERS] = [{ groupId: 'readers' }, { groupId: 'writers' }]

/** The requests that the administrator sends for each task after its creation. */
const STEPS: readonly (readonly Step[])[] = [
  [],
  [assign('ada')],
  [assign('ada'), ['unclaim', {}]],
  [assign('ada'), assign('ben')],
  [assign('ada'), ['delegate', { userId: 'ben' }], ['resolve', {}]],
  [link(ADA)],
  [link(ADA), unlink(ADA)],
  [link(ADA, 'reviewer')],
  [link(ADA, 'reviewer'), unlink(ADA, 'reviewer'), link(BEN, 'owner')],
  [link(BEN, 'owner'), link(ADA, 'owner')],
  [link(READERS)],
  [link(READERS), unlink(READERS)],
  [link(READERS, 'reviewer'), unlink(READERS, 'reviewer'), link(READERS)],
  [link(READERS), link(ADA), unlink(ADA)],
  [link(WRITERS)],
  [link(WRITERS), assign('ada')],
  [link(WRITERS), unlink(WRITERS)],
  [link(WRITERS), unlink(WRITERS), ['complete', {}]],
  [link(WRITERS), ['complete', {}]],
  [assign('ada'), ['complete', {}]],
  [link(READERS), link(ADA), ['complete', {}]],
  [link(ADA), unlink(ADA), ['complete', {}]],
  [assign('ada'), assign('ben'), ['complete', {}]],
]

const { TASK, PROCESS_DEFINITION } = RESOURCES
const CALLERS: readonly PairCaller[] = [
  { user: 'ada', records: [] },
  { user: 'ben', groups: ['readers'], records: [] },
  { user: 'cleo', groups: ['readers', 'writers'], records: [] },
  {
    user: 'dora',
    groups: ['readers'],
    records: [{ resourceType: PROCESS_DEFINITION.id, resourceId: 'work', permissions: ['READ_TASK'] }],
  },
  {
    user: 'ed',
    groups: ['readers'],
    records: [{ resourceType: TASK.id, permissions: ['READ'], type: 2 }],
  },
  {
    user: 'fay',
    groups: ['readers'],
    records: [
      { resourceType: PROCESS_DEFINITION.id, permissions: ['READ_TASK'] },
      { resourceType: PROCESS_DEFINITION.id, resourceId: 'work', permissions: ['READ_TASK'], type: 2 },
      { resourceType: TASK.id, resourceId: 'alone-0', permissions: ['READ'], type: 2 },
      { resourceType: TASK.id, resourceId: 'alone-10', permissions: ['READ'], type: 2 },
    ],
  },
  { user: 'gina', groups: ['writers'], records: [] },
  { user: 'nobody', records: [] },
]
const QUERIES = [
  '',
  'unassigned=true',
  'sortBy=created&sortOrder=desc',
  'processDefinitionKey=work',
  'firstResult=2&maxResults=3',
]

const BPMN = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="links">
<process id="work" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/><userTask id="node"/>
<sequenceFlow id="f2" sourceRef="node" targetRef="end"/><endEvent id="end"/></process></definitions>`

for (const family of ['camunda', 'camunda-7.24.0', 'operaton'] as const)
  void test(
    `${family}: links to tasks open the tasks that a secured engine opens, until they are completed`,
    {
      skip: javaSkip,
    },
    (t) => compareLinks(t, family),
  )

async function compareLinks(t: Test, family: Family): Promise<void> {
  const { admin, open } = await startSecuredPair(t, family)
  for (const id of ['readers', 'writers'])
    await admin.call('POST', '/group/create', { id, name: id, type: 'x' })
  // The engine writes the grants of users who do not exist yet, too.
  await makeTasks(admin)
  const { engine, gateway } = await open(CALLERS, {
    isKept: ({ resourceType, type }) => resourceType !== TASK.id || type === 2,
  })
  let seen = 0
  for (const { user } of CALLERS)
    for (const query of QUERIES)
      for (const path of ['/task', '/task/count']) {
        const ask = { method: 'GET', path: `${path}?${query}` } as const
        const [expected, actual] = await Promise.all([engine(user, ask), gateway(user, ask)])
        t.equal(expected.status, 200, `${user} ${ask.path}`)
        t.same(actual, expected, `${user} ${ask.path}`)
        if (query === '' && path === '/task') seen += rowsOf(expected.body).length
      }
  t.ok(seen > 40, `the callers see ${seen} tasks`)
}

async function makeTasks(admin: Admin): Promise<void> {
  await admin.upload('/deployment/create', [
    { name: 'deployment-name', value: 'work' },
    { name: 'work.bpmn', value: BPMN, file: 'work.bpmn' },
  ])
  for (const [index, steps] of STEPS.entries())
    for (const id of [await makeProcessTask(admin), await makeOwnTask(admin, `alone-${index}`)])
      for (const [path, body] of steps) await admin.call('POST', `/task/${id}/${path}`, body)
}

async function makeProcessTask(admin: Admin): Promise<string> {
  const instance = idOf(await admin.call('POST', '/process-definition/key/work/start', {}))
  return textOf(rowsOf(await admin.call('GET', `/task?processInstanceId=${instance}`))[0], 'id')
}

async function makeOwnTask(admin: Admin, id: string): Promise<string> {
  await admin.call('POST', '/task/create', { id, name: id })
  return id
}
