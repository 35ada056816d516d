import { test } from 'tap'
import { type Admin, idOf, type Json } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import { review } from '../differential/models.ts'
import { Random } from '../differential/random.ts'
import { RESOURCES, type ResourceName } from '../../src/operations/permissions.ts'
import { javaSkip } from '../support/requirements.ts'
import { type PairAnswer, type PairCaller, startSecuredPair } from './secured-pair.ts'

/*
 * Sends random questions, from a fixed seed, to `GET /authorization/check` of a secured engine and of a gateway in front of an engine
 * without authorization. Both engines use one database, and the responses must be equal.
 */

const SEED = 20_261
const QUESTIONS = 1200
const RECORDS = 70
const GROUPS = ['editors', 'readers', 'clerks']
const TENANTS = ['acme', 'globex']
/** Tasks without a process, with the requests that the administrator sends after their creation. */
const TASKS: Readonly<Record<string, readonly (readonly [path: string, body: unknown])[]>> = {
  assigned: [['assignee', { userId: 'ben' }]],
  reassigned: [
    ['assignee', { userId: 'ruth' }],
    ['assignee', { userId: 'gus' }],
  ],
  offered: [['identity-links', { userId: 'ada', type: 'candidate' }]],
  withdrawn: [
    ['identity-links', { userId: 'gus', type: 'candidate' }],
    ['identity-links/delete', { userId: 'gus', type: 'candidate' }],
  ],
  grouped: [['identity-links', { groupId: 'readers', type: 'candidate' }]],
  owned: [['identity-links', { userId: 'ruth', type: 'owner' }]],
  finished: [
    ['assignee', { userId: 'ben' }],
    ['complete', {}],
  ],
  free: [],
}
const OTHER_IDS = ['review', 'nosuch', '', '*']
const ODD_TYPES = ['', '-1', '22', '99', '7.0', 'x', '2147483648']
const ODD_PERMISSIONS = ['', 'read', 'ALL', 'NONE', 'NOSUCH', 'READ_INSTANCE', 'ACCESS', 'SET', 'SUSPEND']
const { USER, GROUP, AUTHORIZATION, FILTER, TASK, TENANT } = RESOURCES
const RESOURCE_NAMES = Object.keys(RESOURCES).filter(isResourceName)

const CALLERS: readonly PairCaller[] = [
  { user: 'boss', groups: ['camunda-admin'], records: [] },
  { user: 'nobody', records: [] },
  {
    user: 'ben',
    groups: ['editors'],
    tenants: ['acme'],
    records: [{ resourceType: USER.id, permissions: ['UPDATE'], type: 2 }],
  },
  {
    user: 'ruth',
    groups: ['readers', 'clerks'],
    records: [
      { resourceType: AUTHORIZATION.id, permissions: ['READ'] },
      { resourceType: GROUP.id, permissions: ['READ'], resourceId: 'editors', type: 2 },
      { resourceType: TASK.id, permissions: ['READ'], resourceId: 'owned', type: 2 },
    ],
  },
  {
    user: 'gus',
    groups: ['editors', 'readers'],
    tenants: ['globex', 'acme'],
    records: [
      { resourceType: AUTHORIZATION.id, permissions: ['READ'] },
      { resourceType: TENANT.id, permissions: ['READ'], resourceId: 'acme', type: 2 },
    ],
  },
  {
    user: 'ada',
    groups: ['clerks'],
    tenants: ['globex'],
    records: [
      { resourceType: AUTHORIZATION.id, permissions: ['ALL'] },
      { resourceType: GROUP.id, permissions: ['READ'] },
      { resourceType: TASK.id, permissions: ['ALL'] },
      { resourceType: FILTER.id, permissions: ['READ'], type: 0, userId: '*' },
    ],
  },
]
/** Resources for which the engine creates records automatically. */
const OWN = ['USER', 'GROUP', 'TENANT', 'TASK'] as const
const USERS = CALLERS.map(({ user }) => user)

void test('each response about permissions is that of a secured engine', { skip: javaSkip }, async (t) => {
  const random = new Random(SEED)
  const { admin, open } = await startSecuredPair(t, 'camunda')
  for (const id of GROUPS) await admin.call('POST', '/group/create', { id, name: id, type: 'x' })
  for (const id of TENANTS) await admin.call('POST', '/tenant/create', { id, name: id })
  const tasks = await makeTasks(admin)
  await addRecords(admin, random, tasks)
  const { engine, gateway } = await open(CALLERS, { isKept: (record) => !isWrittenByEngine(record) })
  const counts = { authorized: 0, denied: 0, refused: 0 }
  const chosen = Array.from({ length: QUESTIONS }, () => {
    const user = random.pick(USERS)
    return [user, questionOf(random, user, tasks)] as const
  })
  for (const [user, ask] of [...questionsOfOwn(tasks), ...chosen]) {
    const [expected, actual] = await Promise.all([engine(user, ask), gateway(user, ask)])
    t.same(shownOf(actual), shownOf(expected), `${user} ${ask.path}`)
    const { authorized } = Object(expected.body)
    counts[expected.status !== 200 ? 'refused' : authorized === true ? 'authorized' : 'denied'] += 1
  }
  t.comment(counts)
  for (const [outcome, count] of Object.entries(counts)) t.ok(count > QUESTIONS / 10, `${count} ${outcome}`)
})

/** Questions of an administrator: may each user read the entities for which the engine creates records automatically? */
function questionsOfOwn(tasks: readonly string[]): (readonly [user: string, ask: Ask])[] {
  const ids = { USER: USERS, GROUP: GROUPS, TENANT: TENANTS, TASK: tasks }
  return OWN.flatMap((resource) =>
    ids[resource].flatMap((resourceId) =>
      USERS.map((userId) => {
        const { id, name: resourceName } = RESOURCES[resource]
        const question = { permissionName: 'READ', resourceName, resourceType: `${id}`, resourceId, userId }
        return [
          'boss',
          { method: 'GET', path: `/authorization/check?${new URLSearchParams(question)}` },
        ] as const
      }),
    ),
  )
}

function questionOf(random: Random, user: string, tasks: readonly string[]): Ask {
  const isOwn = random.chance(0.5)
  const resource = random.pick(isOwn ? OWN : RESOURCE_NAMES)
  const permissions = isOwn ? ['READ', 'UPDATE'] : Object.keys(RESOURCES[resource].permissions)
  const parameters: Record<string, string> = {
    permissionName: random.chance(0.9) ? random.pick(permissions) : random.pick(ODD_PERMISSIONS),
    resourceName: RESOURCES[resource].name,
    resourceType: random.chance(0.95) ? String(RESOURCES[resource].id) : random.pick(ODD_TYPES),
  }
  if (random.chance(0.8)) parameters['resourceId'] = idOfResource(random, resource, tasks)
  if (random.chance(0.5)) parameters['userId'] = random.pick([...USERS, user, 'ghost', ''])
  if (random.chance(0.05)) delete parameters[random.pick(Object.keys(parameters))]
  return { method: 'GET', path: `/authorization/check?${new URLSearchParams(parameters)}` }
}

function idOfResource(random: Random, resource: ResourceName, tasks: readonly string[]): string {
  const ids: Readonly<Partial<Record<ResourceName, readonly string[]>>> = {
    USER: [...USERS, 'ghost'],
    GROUP: [...GROUPS, 'camunda-admin'],
    TENANT: TENANTS,
    TASK: tasks,
  }
  return random.pick(random.chance(0.85) ? (ids[resource] ?? OTHER_IDS) : OTHER_IDS)
}

/** @returns the ids of all tasks */
async function makeTasks(admin: Admin): Promise<readonly string[]> {
  for (const [id, requests] of Object.entries(TASKS)) {
    await admin.call('POST', '/task/create', { id, name: id })
    for (const [path, body] of requests) await admin.call('POST', `/task/${id}/${path}`, body)
  }
  await admin.upload('/deployment/create', [
    { name: 'deployment-name', value: 'review' },
    { name: 'review.bpmn', value: review, file: 'review.bpmn' },
  ])
  const instance = idOf(await admin.call('POST', '/process-definition/key/review/start', {}))
  const ofProcess = idOf(await admin.call('GET', `/task?processInstanceId=${instance}`))
  return [...Object.keys(TASKS), ofProcess]
}

/** Creates random records of users, groups and everybody. */
async function addRecords(admin: Admin, random: Random, tasks: readonly string[]): Promise<void> {
  const seen = new Set<string>()
  for (let count = 0; count < RECORDS; count += 1) {
    const resource = random.pick(RESOURCE_NAMES)
    const resourceId = random.chance(0.4) ? '*' : idOfResource(random, resource, tasks) || '*'
    const type = random.pick([0, 1, 1, 1, 2, 2])
    const holder =
      type === 0
        ? { userId: '*' }
        : random.chance(0.5)
          ? { userId: random.pick(USERS) }
          : { groupId: random.pick(GROUPS) }
    const permissions = random.sample(Object.keys(RESOURCES[resource].permissions), 2)
    const record = { type, ...holder, resourceType: RESOURCES[resource].id, resourceId, permissions }
    const key = JSON.stringify([type, holder, record.resourceType, resourceId])
    // The engine accepts only one record for each key, and has created some records automatically.
    if (seen.has(key) || isWrittenByEngine(record) || resource === 'AUTHORIZATION') continue
    seen.add(key)
    await admin.call('POST', '/authorization/create', record)
  }
}

/** Returns whether a secured engine creates such records automatically: for users, groups, members of tenants, and users of tasks. */
function isWrittenByEngine({ type, resourceType, resourceId }: Json): boolean {
  const isOf = [USER.id, GROUP.id, TENANT.id, TASK.id].some((id) => id === resourceType)
  return type === 1 && isOf && resourceId !== '*' && resourceId !== 'free'
}

/** Returns the part of a response that is compared. A refusal of the gateway itself has a code in a header. */
function shownOf({ status, body }: PairAnswer): unknown {
  return [status, body]
}

function isResourceName(name: string): name is ResourceName {
  return Object.hasOwn(RESOURCES, name)
}
