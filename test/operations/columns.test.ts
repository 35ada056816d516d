import t from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { Selector } from '../../src/operations/body-selectors.ts'
import type { ChangeKind, Operation } from '../../src/operations/table.ts'

/* Fields that only a few operations have. Each is checked for all operations at once. */

/** `400 Type: text`, with a code after the type if the engine sets one. `BARE` lists responses without a message. */
const ANSWER = /^(400|403|404|500) \w+Exception( 0)?: \S.*\S$/
const BARE: ReadonlySet<string> = new Set(['200 []', '204', 'ignored'])

t.test('a response of the engine has a status, a type and a message', (t) => {
  const answers = OPERATIONS.flatMap(answersOf)
  t.ok(answers.length > 300)
  t.same(
    answers.filter((answer) => !ANSWER.test(answer) && !BARE.has(answer)),
    [],
  )
  t.end()
})

const NO_INSTANCE =
  '400 InvalidRequestException: Historic process instance cannot be found: historicProcessInstanceId is null'

t.test("an entity of another tenant is refused with the engine's message for it", (t) => {
  const others = OPERATIONS.flatMap(({ crossTenant, checks }) => [
    crossTenant,
    ...checks.map((check) => check.crossTenant),
  ]).filter((answer) => answer !== undefined && !BARE.has(answer))
  t.ok(others.length > 50)
  // The only other message is that of a restart, which does not find the instance.
  t.same(
    new Set(others.filter((answer) => answer?.includes(' ENGINE-13034 ') === false)),
    new Set([NO_INSTANCE]),
  )
  t.end()
})

/** The preconditions that the engine checks before the permission, with the type of the error. */
const PRECONDITIONS: Readonly<Record<string, readonly (readonly [when: string, head: string])[]>> = {
  completeExternalTaskResource: [['the worker does not hold the task', '400 RestException 0']],
  createTask: [['body:tenantId of another tenant', '500 ProcessEngineException 0']],
  deleteTask: [
    ['the task belongs to a process', '500 ProcessEngineException 0'],
    ['the task belongs to a case', '500 ProcessEngineException 0'],
  ],
  extendLock: [['the worker does not hold the task', '400 RestException 0']],
  getActivityInstanceTree: [['the execution is no instance', '500 InvalidRequestException 0']],
  handleExternalTaskBpmnError: [['the worker does not hold the task', '400 RestException 0']],
  handleFailure: [['the worker does not hold the task', '400 RestException 0']],
  resolveIncident: [['the incident was not created by a caller', '400 InvalidRequestException']],
  updateProcessDefinitionSuspensionState: [
    ['body:processDefinitionId given', '400 InvalidRequestException'],
    ['body:processDefinitionKey absent', '400 InvalidRequestException'],
  ],
  updateTask: [['body:tenantId of another tenant', '500 ProcessEngineException 0']],
}
/** The operations whose permission is checked first. */
const AFTER_PERMISSION = ['createTask', 'updateTask']

t.test('the preconditions of every operation are known', (t) => {
  const found = OPERATIONS.flatMap(({ id, preconditions }) =>
    preconditions === undefined
      ? []
      : [[id, preconditions.map(({ when, denied }) => [when, denied.split(':', 1)[0]])] as const],
  )
  t.same(Object.fromEntries(found), PRECONDITIONS)
  const late = OPERATIONS.filter(({ preconditions = [] }) =>
    preconditions.some(({ afterPermission }) => afterPermission === true),
  )
  t.same(idsOf(late), AFTER_PERMISSION)
  t.end()
})

/** For each selector, the body members that receive the ids found by that query. */
const TAKING: Readonly<Record<Selector, readonly string[]>> = {
  externalTaskQuery: ['externalTaskIds'],
  historicBatchQuery: ['historicBatchIds'],
  historicDecisionInstanceQuery: ['historicDecisionInstanceIds'],
  historicProcessInstanceQuery: ['historicProcessInstanceIds', 'processInstanceIds', 'processInstances'],
  jobQuery: ['jobIds'],
  processInstanceQuery: ['processInstanceIds', 'processInstances'],
}

t.test('the ids found by a query in a body go to the member for ids of its kind', (t) => {
  const selecting = OPERATIONS.filter(({ selectors }) => selectors !== undefined)
  t.equal(selecting.length, 22)
  for (const { id, selectors, empty } of selecting) {
    const queries = selectors?.queries ?? {}
    const members = Object.entries(queries)
    t.ok(members.length > 0, id)
    for (const [selector, member] of members) t.ok(takingOf(selector).includes(member), `${id} ${selector}`)
    const { processInstanceQuery: running, historicProcessInstanceQuery: any } = queries
    if (running !== undefined && any !== undefined) t.equal(running, any, id)
    t.ok(empty?.startsWith('400 '), `${id} says what it answers where nothing is found`)
  }
  t.end()
})

t.test('ids are resolved by a list with paging and a member of its query', (t) => {
  const finders = OPERATIONS.flatMap(({ id, selectors }) =>
    Object.entries(selectors?.ids ?? {}).map(([member, finder]) => ({ id, member, ...finder })),
  )
  t.equal(finders.length, 8)
  for (const { id, member, list, by, gives = 'id' } of finders) {
    const restriction = OPERATIONS.find((row) => row.id === list)?.items
    t.ok(restriction !== undefined && restriction.form === undefined, `${id} ${list}`)
    t.match(by, /^[a-z]\w+(Id|Ids|IdIn)$/, `${id} ${member}`)
    t.ok(gives === 'id' || gives === 'processInstanceId', `${id} ${member}`)
  }
  t.end()
})

/** The location of the created id, if it is not `id` in the response. */
const MADE: Readonly<Record<string, string>> = {
  bulkCreateTaskComments: 'answer:[].commentInfo.id',
  createGroup: 'body:id',
  createTask: 'body:id',
  createTenant: 'body:id',
  createUser: 'body:profile.id',
  deliverMessage: 'answer:[].processInstance.id',
  evaluateCondition: 'answer:[].id',
}

t.test('the id of a created entity is in the response or in the body of the request', (t) => {
  const making = OPERATIONS.filter(({ creates }) => creates !== undefined)
  t.equal(making.length, 42)
  for (const { id, creates, effect } of making) {
    t.equal(creates, MADE[id] ?? 'answer:id', id)
    t.equal(effect, 'write', id)
  }
  const deferred = OPERATIONS.filter(({ template }) => template.endsWith('-async'))
  t.ok(deferred.length > 5)
  for (const { id, creates } of deferred) t.equal(creates, 'answer:id', `${id} makes a batch`)
  t.end()
})

t.test('a definition is started by id or by key, as the path names it', (t) => {
  const starting = OPERATIONS.filter(({ template }) =>
    /^\/process-definition\/.*\/(start|submit-form)$/.test(template),
  )
  t.equal(starting.length, 6)
  t.same(idsOf(starting), idsOf(OPERATIONS.filter(({ starts }) => starts !== undefined)))
  for (const { id, template, starts } of starting)
    t.equal(starts, template.includes('/key/') ? 'processDefinitionOfKey' : 'processDefinition', id)
  t.end()
})

/** The changes that each write to users, groups, tenants and records makes. */
const CHANGED: Readonly<Record<string, readonly ChangeKind[]>> = {
  createAuthorization: ['records'],
  createGroup: ['records'],
  createGroupMember: ['identity'],
  createGroupMembership: ['records', 'identity'],
  createTenant: ['records'],
  createUser: ['records', 'identity', 'lockouts'],
  createUserMembership: ['records', 'identity'],
  deleteAuthorization: ['records'],
  deleteGroup: ['records', 'identity'],
  deleteGroupMember: ['identity'],
  deleteGroupMembership: ['records', 'identity'],
  deleteTenant: ['records', 'identity'],
  deleteUser: ['records', 'identity', 'lockouts'],
  deleteUserMembership: ['records', 'identity'],
  unlockUser: ['lockouts'],
  updateAuthorization: ['records'],
  updateCredentials: ['identity'],
  updateProfile: ['identity'],
}

t.test('every write to users, groups, tenants and records names the data that it changes', (t) => {
  const found = OPERATIONS.flatMap(({ id, changes }) =>
    changes === undefined || changes.includes('deployments') ? [] : [[id, changes] as const],
  )
  t.same(Object.fromEntries(found), CHANGED)
  t.end()
})

/** The permission for each `rel` of a link. The default is `READ`. */
const ALLOWING: Readonly<Record<string, string>> = { create: 'CREATE', delete: 'DELETE', update: 'UPDATE' }

t.test('a link is removed without the permission for its own action', (t) => {
  const linked = OPERATIONS.filter(({ links }) => typeof links === 'object')
  t.equal(linked.length, 13)
  for (const { id, method, template, links = {} } of linked) {
    t.equal(method, 'OPTIONS', id)
    const named = template.includes('/:id') ? ' path:id' : ''
    t.ok(Object.keys(links).length > 0, id)
    for (const [rel, term] of Object.entries(links))
      t.match(term, new RegExp(`^[A-Z_]+\\.${ALLOWING[rel] ?? 'READ'}${named}$`), `${id} ${rel}`)
  }
  t.end()
})

/** The operations that only admins may call. */
const ADMINS_ONLY = [
  'activateAdHocSubProcessActivities',
  'bulkAssignTasks',
  'bulkCompleteTasks',
  'bulkCreateTaskComments',
  'bulkUpdateTasks',
  'cleanupAsync',
  'completeAdHocSubProcess',
  'createConfiguration',
  'deleteByJobIds',
  'deleteConfiguration',
  'deleteDeployments',
  'getAttachmentsCount',
  'getCommentsCount',
  'getConfiguration',
  'getConfigurationById',
  'getConfigurations',
  'getProcessInstanceIncidentStatistics',
  'getProcessInstanceStatistics',
  'getScriptSecurityConfig',
  'getScriptViolations',
  'getScriptViolationsCount',
  'queryOwnAuthorizations',
  'triggerAdHocActivities',
  'unlockUser',
  'updateConfiguration',
  'updateScriptSecurityConfig',
  'updateSuspensionStateByJobIds',
]

t.test('a check names permissions unless it requires an admin', (t) => {
  const bare = OPERATIONS.filter(({ checks }) =>
    checks.some(({ anyOf, allOf }) => (allOf ?? anyOf ?? []).length === 0),
  )
  t.same(idsOf(bare), ADMINS_ONLY)
  for (const { id, checks } of bare) t.match(checks, [{ admin: true }], id)
  const closed = OPERATIONS.filter(({ items }) =>
    [items?.anyOf, items?.allOf, items?.and?.anyOf].some((terms) => terms?.length === 0),
  )
  t.same(idsOf(closed), [], 'and so does what opens rows')
  t.end()
})

t.test('a cached response has a time to live and one tag', (t) => {
  const cached = OPERATIONS.flatMap(({ id, cache }) => (cache === undefined ? [] : [{ id, ...cache }]))
  t.ok(cached.length > 0)
  for (const { id, seconds, tags } of cached) {
    t.ok(seconds >= 1 && seconds <= 3600, id)
    t.equal(tags.filter((tag) => tag !== '').length, 1, id)
  }
  t.end()
})

/** Returns every engine response that an operation contains. */
function answersOf({
  notFound,
  crossTenant,
  empty,
  checks,
  preconditions = [],
}: Operation): readonly string[] {
  return [
    notFound,
    crossTenant,
    empty,
    ...checks.flatMap((check) => [check.notFound, check.crossTenant]),
    ...preconditions.map(({ denied }) => denied),
  ].filter((answer) => answer !== undefined)
}

function takingOf(selector: string): readonly string[] {
  return Object.entries(TAKING).find(([name]) => name === selector)?.[1] ?? []
}

function idsOf(operations: readonly Operation[]): readonly string[] {
  return operations.map(({ id }) => id).toSorted()
}
