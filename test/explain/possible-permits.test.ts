import t from 'tap'
import type { AuthorizationRecord } from '../../src/operations/authorization-record.ts'
import { OPEN_COMMANDS } from '../../src/operations/job-command-names.ts'
import type { LookupName } from '../../src/operations/lookup-name.ts'
import { isResource, RESOURCES } from '../../src/operations/permissions.ts'
import { createAuthorize } from '../../src/policy/authz/checks/authorize.ts'
import { COMPOSITES, hasMember, LOOKUPS } from '../../src/policy/authz/entities/lookup-rules.ts'
import {
  createFindPossiblePermits,
  createMayBePermitted,
  type PermitSubject,
  type PossiblePermitsOptions,
} from '../../src/explain/possible-permits.ts'
import type { OperationPolicy } from '../../src/policy/authz/operation-policy.ts'
import { indexRecords } from '../../src/policy/authz/records/records.ts'
import type { Attributes } from '../../src/request/attributes.ts'
import { EndedTurn } from '../support/ended-turn.ts'
import { longestTurnOf } from '../support/longest-turn.ts'
import { GROUPS, pickFrom, policyOf, randomRecords, seeded, USERS } from './generated-policies.ts'
import { ENTITY_IDS, randomRequest, type RandomRequest } from './generated-requests.ts'
import { seed } from '../support/requirements.ts'

const TABLE = policyOf([], null).policies
const ALL_RESOURCES = Object.keys(RESOURCES).filter(isResource)

/** Sets of entities that only the engine can determine. */
const UNKNOWN = new Set(['jobDefinitions', 'jobHistoricInstances', 'jobJobs', 'unknown'])

/** Operations whose body selects what they act on, with the members of which one is needed. */
const SELECTED: Readonly<Record<string, readonly string[]>> = {
  updateSuspensionStateBy: [
    'processInstanceId',
    'processDefinitionId',
    'processDefinitionKey',
    'jobDefinitionId',
  ],
  updateSuspensionStateJobDefinitions: ['processDefinitionId', 'processDefinitionKey'],
  updateSuspensionState: ['processDefinitionId', 'processDefinitionKey'],
}

/** The attributes of entities on which decisions depend. */
const MEMBERS = new Set(
  Object.values(LOOKUPS).flatMap(({ members }) => [...members, 'processDefinitionKey', 'command']),
)
const OF_PROCESS = new Set(['processDefinitionKey', 'processInstanceId', 'executionId'])
const KINDS = ['process', 'standalone', 'case']

/** `counts` are the possible numbers of records. */
function randomSubject(
  random: () => number,
  counts: readonly number[] = [0, 3, 10, 40],
): PermitSubject & { readonly list: readonly AuthorizationRecord[] } {
  const pick = <T>(list: readonly T[]): T => pickFrom(random, list)
  const resources = random() < 0.5 ? ALL_RESOURCES : ALL_RESOURCES.filter(() => random() < 0.3)
  const disabledPermissions = random() < 0.2 ? ['READ', 'CREATE_INSTANCE'] : []
  const list = randomRecords(random, {
    count: pick(counts),
    resources: resources.length === 0 ? ['TASK'] : resources,
  })
  return {
    list,
    principal: {
      userId: pick(USERS),
      groups: GROUPS.filter((name) => random() < (name === 'camunda-admin' ? 0.1 : 0.4)),
      tenants: ['t', 'u'].filter(() => random() < 0.3),
    },
    records: indexRecords(list, { revokes: pick(['auto', 'always', 'never'] as const), disabledPermissions }),
    adminGroups: ['camunda-admin'],
    adminUsers: [],
    checksTenants: random() < 0.7,
    impliesIdentity: random() < 0.7,
    linkBits: random() < 0.5 ? policyOf([], null).linkBits : 0,
    hasCases: random() < 0.3,
  }
}

/** An engine with random entities that all exist. Lookups of the same id find the same entity. */
class RandomEntities {
  readonly #random: () => number
  readonly #values = new Map<string, string>()
  readonly #kinds: readonly string[]
  readonly #ofPath: string | undefined
  readonly tenantId: string | null

  constructor(random: () => number, { hasCases }: PermitSubject, ofPath: string | undefined) {
    this.#random = random
    this.#kinds = hasCases ? KINDS : KINDS.slice(0, 2)
    this.#ofPath = ofPath
    this.tenantId = ofPath ?? this.pick([null, 't', 'v'])
  }

  pick<T>(list: readonly T[]): T {
    return pickFrom(this.#random, list)
  }

  valueOf(what: string, values: readonly string[] = ENTITY_IDS): string {
    const value = this.#values.get(what) ?? this.pick(values)
    this.#values.set(what, value)
    return value
  }

  lookUp(name: LookupName, id: string): Attributes {
    const members = [...MEMBERS].filter((member) => hasMember(name, member))
    return Object.fromEntries(members.map((member) => [member, this.#memberOf(name, id, member)]))
  }

  #memberOf(name: LookupName, id: string, member: string): string | null {
    const kind = this.valueOf(`${id} kind`, this.#kinds)
    if (member === 'tenantId')
      return COMPOSITES[name]?.includes('tenantId') === true ? (this.#ofPath ?? null) : this.tenantId
    if (member === 'command') return this.valueOf(`${id} command`, OPEN_COMMANDS)
    if (member === 'caseExecutionId') return kind === 'case' ? 'x' : null
    return isAlwaysText(name, member) ? this.valueOf(`${id} ${member}`) : this.#optionalOf(kind, id, member)
  }

  /** Entities of a process have a definition and an execution, but a job may have no instance. Other entities have none of them. */
  #optionalOf(kind: string, id: string, member: string): string | null {
    if (OF_PROCESS.has(member) && kind !== 'process') return null
    const isNamed = member === 'processDefinitionKey' || member === 'executionId'
    return isNamed || this.valueOf(`${id} has ${member}`, ['yes', 'yes', 'yes', 'no']) === 'yes'
      ? this.valueOf(`${id} ${member}`)
      : null
  }
}

function isAlwaysText(name: LookupName, member: string): boolean {
  const { texts = [], definition, instance } = LOOKUPS[name]
  return texts.includes(member === 'processDefinitionKey' ? (definition ?? instance ?? member) : member)
}

/** Adds what an operation acts on to a random request, if its path does not say it. Returns the selected set. */
function selectIn(
  { query, body }: RandomRequest,
  { operation, checks }: OperationPolicy,
  random: () => number,
): string {
  const members = SELECTED[operation.id] ?? []
  const selectors = [...new Set(checks.before.flatMap(({ each }) => each ?? [])), ...members]
  if (selectors.length === 0) return ''
  const selected = pickFrom(random, selectors)
  const [, from, name = ''] = /^(body|query):(\w+)\[\]$/.exec(selected) ?? []
  const id = pickFrom(random, ENTITY_IDS)
  // A signal for one execution starts nothing.
  if (selected === 'signalStarts') delete body['executionId']
  if (members.includes(selected)) body[selected] = id
  else if (from === 'query') query.set(name, id)
  else if (from === 'body') body[name] = [id]
  return selected
}

/** Decides a random request at a random engine. The request selects something. */
async function isPermittedOnce(
  random: () => number,
  policy: OperationPolicy,
  subject: PermitSubject,
): Promise<boolean> {
  const { principal, records, linkBits } = subject
  const { userId, groups, tenants } = principal
  const request = randomRequest(random, policy, [...ENTITY_IDS, userId, ...groups, ...tenants])
  const { params } = request
  if (params['tenantId'] !== undefined) params['tenantId'] = pickFrom(random, ['t', 'u', 'v'])
  const engine = new RandomEntities(random, subject, params['tenantId'])
  const selected = selectIn(request, policy, random)
  const target = new Proxy<Record<string, string | null>>(
    {},
    { get: (_, name) => (name === 'tenantId' ? engine.tenantId : engine.valueOf(`target ${String(name)}`)) },
  )
  const links = {
    user: engine.pick([0, linkBits]),
    groups: groups.length > 0 ? engine.pick([0, linkBits]) : 0,
  }
  const bound = createAuthorize(policy.checks, {
    ...subject,
    records: () => records,
    lookUp: (name, id) => engine.lookUp(name, id),
    lookUpAll: async (name, list) => new Map(list.map((id) => [id, engine.lookUp(name, id)])),
    findTargets: async (set) =>
      UNKNOWN.has(set) ? null : set === selected || random() < 0.3 ? [target] : [],
    isOwn: async () => random() < 0.7,
    tenantsOfKey: async () => [engine.pick([null, 't', 'v'])],
    findCondition: async (condition) =>
      condition === 'the plan is valid' ? true : engine.pick([true, false]),
    implicitGrants:
      linkBits === 0
        ? null
        : { on: async () => links, tasks: async () => ({ user: new Set(), groups: new Set(), bits: 0 }) },
  })
  const accessRequest = { principal, ...request }
  const { permitted } = await bound.authorize(accessRequest)
  return permitted && bound.verifyCreated?.(accessRequest, 'created').permitted !== false
}

t.test('no operation is hidden of which one of many generated requests is permitted', async (t) => {
  const random = seeded(11 * seed)
  const counts = { shown: 0, hidden: 0 }
  for (let caller = 0; caller < 50; caller += 1) {
    const subject = randomSubject(random)
    const mayBePermitted = await createMayBePermitted(subject)
    for (const policy of TABLE.values()) {
      if (mayBePermitted(policy)) {
        counts.shown += 1
        continue
      }
      counts.hidden += 1
      for (let at = 0; at < 40; at += 1)
        if (await isPermittedOnce(random, policy, subject))
          t.fail(`${policy.operation.id} is hidden`, { caller, ...subject, records: undefined })
    }
  }
  t.comment(`${counts.shown} shown, ${counts.hidden} hidden`)
  t.ok(counts.hidden > 2_000, `${counts.hidden} operations are hidden`)
  t.ok(counts.shown > 5_000, `${counts.shown} operations are shown`)
})

/** The longest time in which no other work may run. */
const MAX_TURN_MS = 50
const OF_TENANT = 'getProcessDefinitionBpmn20XmlByKeyAndTenantId'
const NOBODY = { userId: 'anna', groups: [], tenants: [] }

function subjectWith(overrides: Partial<PermitSubject> = {}): PermitSubject {
  return {
    principal: NOBODY,
    records: indexRecords([]),
    adminGroups: ['camunda-admin'],
    adminUsers: [],
    checksTenants: true,
    impliesIdentity: false,
    linkBits: 0,
    hasCases: false,
    ...overrides,
  }
}

function finderWith(overrides: Partial<PossiblePermitsOptions> = {}) {
  return createFindPossiblePermits({
    policies: TABLE,
    release: null,
    isEnforced: true,
    isOpen: () => false,
    subjectOf: async (principal) => subjectWith({ principal }),
    recordsVersion: () => 1,
    ...overrides,
  })
}

t.test(
  'a caller without records sees lists, which are filtered, and no change of a definition',
  async (t) => {
    const { operations } = await finderWith()(NOBODY)
    t.ok(operations.has('getTasks'))
    t.ok(operations.has('getProcessInstancesCount'))
    t.notOk(operations.has('startProcessInstanceByKey'))
    t.notOk(operations.has('getRegisteredDeployments'))
    t.notOk(operations.has('createDeployment'))
  },
)

t.test('a request that selects nothing shows no operation', async (t) => {
  const { operations } = await finderWith()(NOBODY)
  t.notOk(operations.has('deliverMessage'))
  t.notOk(operations.has('throwSignal'))
  t.notOk(operations.has('updateSuspensionStateBy'))
})

t.test('tasks of cases are open to every caller if the engine has cases', async (t) => {
  const { operations: without } = await finderWith()(NOBODY)
  t.notOk(without.has('complete'))
  const finder = finderWith({ subjectOf: async (principal) => subjectWith({ principal, hasCases: true }) })
  t.ok((await finder(NOBODY)).operations.has('complete'))
})

t.test('an id of the path that has to equal the id of the entity is tried with each named id', async (t) => {
  const record = { type: 1 as const, userId: 'anna', resourceType: 8, resourceId: 'x', permissions: ['READ'] }
  const records = indexRecords([record])
  const finder = finderWith({ subjectOf: async (principal) => subjectWith({ principal, records }) })
  t.ok((await finder(NOBODY)).operations.has('getActivityInstanceTree'))
})

t.test('an administrator sees the operations of administrators', async (t) => {
  const { operations } = await finderWith()({ ...NOBODY, groups: ['camunda-admin'] })
  t.ok(operations.has('getRegisteredDeployments'))
  t.notOk(operations.has('createDeployment'), 'administrators need records for all other operations')
})

t.test('a definition of a tenant is only shown to members of a tenant', async (t) => {
  const record = { type: 1 as const, userId: 'anna', resourceType: 6, resourceId: '*', permissions: ['READ'] }
  const finder = finderWith({
    subjectOf: async (principal) => subjectWith({ principal, records: indexRecords([record]) }),
  })
  t.notOk((await finder(NOBODY)).operations.has(OF_TENANT))
  t.ok((await finder({ ...NOBODY, tenants: ['t'] })).operations.has(OF_TENANT))
})

t.test('an operation whose only permission is disabled is shown to every caller', async (t) => {
  const records = indexRecords([], { disabledPermissions: ['CREATE'] })
  const finder = finderWith({ subjectOf: async (principal) => subjectWith({ principal, records }) })
  t.ok((await finder(NOBODY)).operations.has('createDeployment'))
})

t.test('every operation of the release is shown if the gateway refuses nothing', async (t) => {
  const finder = finderWith({ isEnforced: false, release: 'Camunda 7.22' })
  const { operations } = await finder(NOBODY)
  t.ok(operations.has('createDeployment'))
  t.notOk(operations.has('updateTaskComment'), 'Camunda 7.22 does not have it')
  t.ok((await finderWith({ isEnforced: false })(NOBODY)).operations.has('updateTaskComment'))
})

t.test('an operation without credentials is shown to every caller', async (t) => {
  const finder = finderWith({ isOpen: ({ id }) => id === 'createDeployment' })
  t.ok((await finder(NOBODY)).operations.has('createDeployment'))
})

t.test('the operations are found again when other records are in force', async (t) => {
  let version = 1
  let reads = 0
  const record = {
    type: 1 as const,
    userId: 'anna',
    resourceType: 9,
    resourceId: '*',
    permissions: ['CREATE'],
  }
  const finder = finderWith({
    recordsVersion: () => version,
    subjectOf: async (principal) => {
      reads += 1
      return subjectWith({ principal, records: indexRecords(version === 1 ? [] : [record]) })
    },
  })
  const first = await finder(NOBODY)
  t.equal(await finder(NOBODY), first)
  const other = await finder({ ...NOBODY, userId: 'bob' })
  t.equal(other, first, 'callers with the same operations share them')
  version = 2
  const second = await finder(NOBODY)
  t.not(second.key, first.key)
  t.ok(second.operations.has('createDeployment'))
})

/** Returns one grant for anna on each of many ids. */
function grantsForAnna(
  resource: 'PROCESS_DEFINITION' | 'PROCESS_INSTANCE',
  count: number,
  permissionsOf: () => readonly string[] = () => ['READ'],
): readonly AuthorizationRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 1,
    userId: 'anna',
    resourceType: RESOURCES[resource].id,
    resourceId: `id${index}`,
    permissions: [...permissionsOf()],
  }))
}

function pairsOfPermissions(): () => readonly string[] {
  const random = seeded(7 * seed)
  const permissions = Object.keys(RESOURCES.PROCESS_DEFINITION.permissions)
  return () => [...new Set([pickFrom(random, permissions), pickFrom(random, permissions)])]
}

const MANY_GRANTS = [
  {
    name: 'many grants of different permissions do not delay other requests',
    grants: () => grantsForAnna('PROCESS_DEFINITION', 10_000, pairsOfPermissions()),
    shown: 'getProcessDefinition',
  },
  {
    name: 'grants on very many ids do not delay other requests',
    grants: () => grantsForAnna('PROCESS_INSTANCE', 200_000),
    shown: 'getProcessInstance',
  },
]

for (const { name, grants, shown } of MANY_GRANTS)
  t.test(name, async (t) => {
    const records = indexRecords(grants())
    const subjectOf: PossiblePermitsOptions['subjectOf'] = async (principal) =>
      subjectWith({ principal, records })
    const longest = await longestTurnOf(MAX_TURN_MS, async () => {
      const { operations } = await finderWith({ subjectOf })({ ...NOBODY, userId: 'anna' })
      t.ok(operations.has(shown))
      t.notOk(operations.has('createDeployment'))
    })
    t.ok(longest < MAX_TURN_MS, `${longest} ms`)
  })

t.test('other work can run after each id', async (t) => {
  const turn = new EndedTurn()
  const principal = { ...NOBODY, userId: 'anna' }
  const records = indexRecords(grantsForAnna('PROCESS_INSTANCE', 100))
  await createMayBePermitted(subjectWith({ principal, records }), turn)
  t.equal(turn.ends, 100)
})

t.test('a revocation does not hide an operation, because each request is decided anyway', async (t) => {
  const start = { userId: 'anna', resourceType: 6, permissions: ['CREATE_INSTANCE', 'READ'] }
  const records = indexRecords([
    { type: 1, ...start, resourceId: 'one' },
    { type: 2, ...start, resourceId: 'one' },
    { type: 1, userId: 'anna', resourceType: 8, resourceId: '*', permissions: ['CREATE'] },
  ])
  const finder = finderWith({ subjectOf: async (principal) => subjectWith({ principal, records }) })
  t.ok((await finder(NOBODY)).operations.has('startProcessInstanceByKey'))
})

t.test('the operations of a caller are found once for requests at the same time', async (t) => {
  const { state, find } = countingFinder()
  const [one, other] = await Promise.all([find(NOBODY), find(NOBODY)])
  t.equal(one, other)
  t.equal(state.searches, 1)
})

/** Returns a finder that counts its searches. */
function countingFinder() {
  const state = { searches: 0 }
  const policies = new Map(TABLE)
  policies.values = () => {
    state.searches += 1
    return TABLE.values()
  }
  return { state, find: finderWith({ policies }) }
}

t.test('a search that no client awaits when it begins is left out', async (t) => {
  const { state, find } = countingFinder()
  const [anna, ben] = ['anna', 'ben'].map((userId) => ({ ...NOBODY, userId }))
  if (anna === undefined || ben === undefined) throw new Error('no callers')
  let isAwaited = true
  const first = find(anna)
  const left = t.rejects(
    find(ben, () => isAwaited),
    { code: 'GW_OVERLOADED' },
  )
  const awaited = find(ben)
  isAwaited = false
  await Promise.all([first, left, awaited])
  t.equal(state.searches, 2)
  t.equal(await find(ben), await awaited)
  t.equal(state.searches, 2)
})
