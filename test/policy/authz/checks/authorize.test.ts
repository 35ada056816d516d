import t from 'tap'
import type { Check } from '../../../../src/operations/notation.ts'
import { bitOf } from '../../../../src/operations/permissions.ts'
import { operationsOf } from '../../../../src/operations/compile-table.ts'
import type { OperationEntry } from '../../../../src/operations/table.ts'
import { createAuthorize } from '../../../../src/policy/authz/checks/authorize.ts'
import type { AuthorizeOptions } from '../../../../src/policy/authz/checks/authorize-options.ts'
import { compileChecks } from '../../../../src/policy/authz/checks/compile-check.ts'
import type { Attributes } from '../../../../src/request/attributes.ts'
import { EMPTY_ENGINE } from '../../../support/empty-engine.ts'
import { recordsOf } from '../../../support/record-lines.ts'

interface World extends Partial<Omit<AuthorizeOptions, 'records'>> {
  readonly lines?: readonly string[]
  /** The entities by lookup and id, for example `task t1`. */
  readonly entities?: Readonly<Record<string, Attributes>>
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string>>
  readonly params?: Readonly<Record<string, string>>
}

interface Decided {
  /** `permitted`, the code of a refusal by the gateway, or the status of a refusal with the engine's response. */
  readonly answer: string | number
  readonly lookedUp: readonly string[]
  /** The missing permissions of a refusal, for example `0 READ Task t1`. */
  readonly missing: readonly string[]
}

/** Decides a request of anna, who belongs to the tenant acme, for the operation `row`. */
async function decide(row: Partial<OperationEntry>, world: World = {}): Promise<Decided> {
  const { lines = [], entities = {}, body = {}, query = {}, params = { id: 't1' }, ...options } = world
  const [operation] = operationsOf({ tag: { row: { route: 'POST /novelty/:id', checks: [], ...row } } })
  if (operation === undefined) throw new Error('no row')
  const lookedUp: string[] = []
  const records = recordsOf(lines)
  const { authorize: before } = createAuthorize(compileChecks(operation), {
    ...EMPTY_ENGINE,
    records: () => records,
    lookUp: (name, id) => {
      lookedUp.push(`${name} ${id}`)
      return entities[`${name} ${id}`] ?? null
    },
    checksTenants: true,
    ...options,
  })
  const principal = { userId: 'anna', groups: [], tenants: ['acme'] }
  const decision = await before({ principal, params, query: new Map(Object.entries(query)), body })
  if (decision.permitted) return { answer: 'permitted', lookedUp, missing: [] }
  const { refusal, denialReason } = decision
  return {
    answer: 'code' in refusal ? refusal.code : refusal.statusCode,
    lookedUp,
    missing: (denialReason?.missing ?? []).map(
      ({ permission, resource, resourceId, need }) => `${need} ${permission} ${resource} ${resourceId}`,
    ),
  }
}

const answerTo = async (row: Partial<OperationEntry>, world?: World) => (await decide(row, world)).answer

const READ_BY_KEY = 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'
const EXECUTION = 'PROCESS_DEFINITION.READ_INSTANCE execution.processDefinitionKey'
const READ_TASK: Check = {
  anyOf: ['TASK.READ path:id', READ_BY_KEY],
  denied: 403,
}
const TASK_ROW: Partial<OperationEntry> = {
  loads: 'task',
  notFound: '404 RestException: none',
  checks: [READ_TASK],
}
const REVIEW = { processDefinitionKey: 'review' }
const GRANT = 'grant anna PROCESS_DEFINITION:review READ_TASK'

t.test('a check with a condition of the engine refuses until the engine says it does not hold', async (t) => {
  const row: Partial<OperationEntry> = {
    checks: [{ when: 'the plan is valid', anyOf: ['TASK.READ', READ_BY_KEY], denied: 403 }],
    loads: 'task',
    crossTenant: 'ignored',
    notFound: '404 RestException: none',
  }
  const entities = { 'task t1': REVIEW }
  for (const [holds, answer] of [
    [true, 403],
    [false, 'permitted'],
    [null, 'GW_CHECK_NOT_EXACT'],
  ] as const)
    t.equal(await answerTo(row, { entities, findCondition: async () => holds }), answer, String(holds))
  const findCondition = async () => t.fail('the engine is asked although the records permit')
  t.equal(await answerTo(row, { entities, lines: [GRANT], findCondition }), 'permitted')
})

t.test('a check whose condition needs an entity that was not loaded permits no caller', async (t) => {
  const row: Partial<OperationEntry> = {
    checks: [{ when: 'the incident was not created by a caller', anyOf: [READ_BY_KEY], denied: 403 }],
    crossTenant: 'ignored',
  }
  const findCondition = async () => t.fail('the engine is asked about an entity')
  t.equal(await answerTo(row, { entities: { 'task t1': REVIEW }, findCondition }), 'GW_CHECK_NOT_EXACT')
})

t.test('an entity of another tenant is refused like one that does not exist', async (t) => {
  const lines = [GRANT]
  const of = (tenantId: string | null) => ({ lines, entities: { 'task t1': { ...REVIEW, tenantId } } })
  t.equal(await answerTo(TASK_ROW, of(null)), 'permitted')
  t.equal(await answerTo(TASK_ROW, of('acme')), 'permitted')
  t.equal(await answerTo(TASK_ROW, of('globex')), 404)
  t.equal(await answerTo(TASK_ROW, { ...of('globex'), checksTenants: false }), 'permitted')
  t.equal(await answerTo(TASK_ROW, { lines }), 404)
  const own = { ...TASK_ROW, crossTenant: '500 ProcessEngineException: no' } as const
  t.equal(await answerTo(own, of('globex')), 500)
  t.equal(await answerTo({ ...TASK_ROW, crossTenant: 'ignored' }, of('globex')), 'permitted')
})

t.test('permission is checked before an entity of another tenant gives an empty list', async (t) => {
  const row: Partial<OperationEntry> = { ...TASK_ROW, crossTenant: '200 []' }
  const entities = { 'task t1': { ...REVIEW, tenantId: 'globex' } }
  t.equal(await answerTo(row, { entities }), 403)
  t.equal(await answerTo(row, { entities, lines: [GRANT] }), 200)
  t.equal(
    await answerTo(row, { entities: { 'task t1': { ...REVIEW, tenantId: 'acme' } }, lines: [GRANT] }),
    'permitted',
  )
})

t.test('a body that names another tenant is refused, even if no entity is looked up', async (t) => {
  const preconditions = [
    { when: 'body:tenantId of another tenant', denied: '400 RestException: no' },
  ] as const
  const lines = ['grant anna TASK:* CREATE']
  const row: Partial<OperationEntry> = {
    route: 'POST /novelty',
    checks: [{ anyOf: ['TASK.CREATE'], denied: 403 }],
    preconditions,
  }
  const world = (tenantId: string) => ({ lines, params: {}, body: { tenantId } })
  t.equal(await answerTo(row, world('globex')), 400)
  t.equal(await answerTo(row, world('acme')), 'permitted')
  t.equal(await answerTo(row, { ...world('globex'), checksTenants: false }), 'permitted')
  t.equal(await answerTo(row, { ...world('globex'), lines: [] }), 400, 'before permission is asked for')
  const late = {
    ...row,
    preconditions: preconditions.map((one) => ({ ...one, afterPermission: true as const })),
  }
  t.equal(await answerTo(late, world('globex')), 400)
  t.equal(await answerTo(late, { ...world('globex'), lines: [] }), 403, 'after it')
})

t.test('a precondition refuses a permitted caller and is checked before the tenant', async (t) => {
  const row: Partial<OperationEntry> = {
    ...TASK_ROW,
    preconditions: [{ when: 'the task belongs to a case', denied: '400 RestException: a case' }],
  }
  const task = { ...REVIEW, caseExecutionId: 'c1' }
  const lines = [GRANT]
  for (const tenantId of [null, 'globex'])
    t.equal(
      await answerTo(row, { lines, entities: { 'task t1': { ...task, tenantId } } }),
      400,
      String(tenantId),
    )
  t.equal(await answerTo(row, { lines, entities: { 'task t1': REVIEW } }), 'permitted')
})

t.test('an identity link permits its user, the members of its group and both', async (t) => {
  const READ = bitOf('TASK', 'READ') ?? 0
  const UPDATE = bitOf('TASK', 'UPDATE') ?? 0
  const entities = { 'task t1': REVIEW }
  for (const [user, groups, answer] of [
    [READ, 0, 'permitted'],
    [0, READ, 'permitted'],
    [READ, READ, 'permitted'],
    [UPDATE, UPDATE, 403],
    [0, 0, 403],
  ] as const) {
    const implicitGrants = {
      on: async () => ({ user, groups }),
      tasks: () => Promise.reject(new Error('nobody asks')),
    }
    t.equal(await answerTo(TASK_ROW, { entities, implicitGrants }), answer, `${user} ${groups}`)
  }
})

t.test('a check on the definition of an entity passes if the entity is known to have none', async (t) => {
  const checks: readonly Check[] = [
    { anyOf: ['PROCESS_DEFINITION.READ_INSTANCE variableInstance.processDefinitionKey'], denied: 403 },
  ]
  const row: Partial<OperationEntry> = { checks, notFound: '404 RestException: none' }
  const alone = { 'variableInstance t1': { processDefinitionKey: null } }
  t.equal(await answerTo(row, { entities: alone }), 'permitted')
  t.equal(await answerTo(row, { entities: { 'variableInstance t1': REVIEW } }), 403)
  t.equal(await answerTo(row), 404)
})

t.test('a check on a missing entity permits no caller, even if `crossTenant` is ignored', async (t) => {
  const checks: readonly Check[] = [{ anyOf: [READ_BY_KEY], denied: 403 }]
  t.equal(await answerTo({ checks, crossTenant: 'ignored' }), 'GW_CHECK_NOT_EXACT')
})

t.test('a check on the definition of a target is not exact if the definition is unknown', async (t) => {
  const term = 'PROCESS_DEFINITION.UPDATE_INSTANCE each.processDefinitionKey'
  const row: Partial<OperationEntry> = {
    route: 'POST /novelty',
    checks: [{ each: 'externalTasks', anyOf: [term], denied: 403, crossTenant: '404 RestException: none' }],
  }
  const lines = ['grant anna PROCESS_DEFINITION:review UPDATE_INSTANCE']
  const answerOf = (target: Attributes) =>
    answerTo(row, { lines, params: {}, findTargets: async () => [{ ...target, tenantId: null }] })
  t.equal(await answerOf({}), 'GW_CHECK_NOT_EXACT')
  t.equal(await answerOf({ processDefinitionKey: null }), 'GW_CHECK_NOT_EXACT')
  t.equal(await answerOf(REVIEW), 'permitted')
})

function definitionCheck(from: 'body:one' | 'body:other' | 'query:one'): Check {
  return { anyOf: [`PROCESS_DEFINITION.READ processDefinition(${from}).key`], denied: 403 }
}

t.test('each entity that an operation names is checked for its tenant separately', async (t) => {
  const own = { key: 'review', tenantId: 'acme' }
  const foreign = { key: 'review', tenantId: 'globex' }
  const lines = ['grant anna PROCESS_DEFINITION:* READ']
  const notFound = '404 RestException: none'
  const request = { body: { one: 'own', other: 'foreign' }, query: { one: 'foreign' }, params: {} }
  for (const [first, second] of [
    ['body:one', 'body:other'],
    ['body:one', 'query:one'],
  ] as const) {
    const row: Partial<OperationEntry> = {
      route: 'POST /novelty',
      checks: [definitionCheck(first), definitionCheck(second)],
      notFound,
    }
    const { answer, lookedUp } = await decide(row, {
      lines,
      ...request,
      entities: { 'processDefinition own': own, 'processDefinition foreign': foreign },
    })
    t.equal(answer, 404, `${first}, ${second}`)
    t.same(lookedUp, ['processDefinition own', 'processDefinition foreign'])
  }
  const row: Partial<OperationEntry> = { checks: [READ_TASK, { ...READ_TASK, anyOf: [EXECUTION] }], notFound }
  const entities = { 'task t1': REVIEW, 'execution t1': { ...REVIEW, tenantId: 'globex' } }
  t.equal(await answerTo(row, { lines: [GRANT, ...lines], entities }), 404, 'two kinds by one id')
  const { lookedUp } = await decide(
    { ...TASK_ROW, checks: [READ_TASK, READ_TASK] },
    { lines: [GRANT], entities },
  )
  t.same(lookedUp, ['task t1'], 'and read once')
})

t.test('one of two entities may belong to another tenant if the engine does not check it', async (t) => {
  const row: Partial<OperationEntry> = {
    route: 'POST /novelty',
    checks: [{ ...definitionCheck('body:one'), crossTenant: 'ignored' }, definitionCheck('body:other')],
    notFound: '404 RestException: none',
  }
  const lines = ['grant anna PROCESS_DEFINITION:* READ']
  const entities = {
    'processDefinition own': { key: 'review', tenantId: 'acme' },
    'processDefinition foreign': { key: 'review', tenantId: 'globex' },
  }
  const answerFor = (one: string, other: string) =>
    answerTo(row, { lines, params: {}, body: { one, other }, entities })
  t.equal(await answerFor('foreign', 'own'), 'permitted')
  t.equal(await answerFor('own', 'foreign'), 404)
})

t.test('a grant on all definitions does not apply to an entity without a definition', async (t) => {
  const cases = [
    ['task', 'PROCESS_DEFINITION.READ_TASK task.processDefinitionKey'],
    ['variableInstance', 'PROCESS_DEFINITION.READ_TASK variableInstance.processDefinitionKey'],
    ['operationLogEntry', 'PROCESS_DEFINITION.READ_TASK operationLogEntry.processDefinitionKey'],
  ] as const
  const lines = ['grant anna PROCESS_DEFINITION:* READ_TASK']
  for (const [name, term] of cases) {
    const row: Partial<OperationEntry> = {
      checks: [{ anyOf: ['TASK.READ path:id', term], denied: 403 }],
      notFound: '404 RestException: none',
    }
    t.equal(
      await answerTo(row, { lines, entities: { [`${name} t1`]: { processDefinitionKey: null } } }),
      403,
      name,
    )
    t.equal(await answerTo(row, { lines, entities: { [`${name} t1`]: REVIEW } }), 'permitted', name)
  }
})

t.test('if all permissions are required, a grant on all of one resource does not decide alone', async (t) => {
  const row: Partial<OperationEntry> = {
    ...TASK_ROW,
    checks: [{ allOf: ['TASK.READ path:id', READ_BY_KEY], denied: 403 }],
  }
  const entities = { 'task t1': REVIEW }
  const lines = ['grant anna TASK:* READ']
  t.equal(await answerTo(row, { lines, entities }), 403)
  t.equal(await answerTo(row, { lines: [...lines, GRANT], entities }), 'permitted')
})

function rowOfKey(route: OperationEntry['route']): Partial<OperationEntry> {
  return {
    route,
    checks: [{ anyOf: ['PROCESS_DEFINITION.READ path:key'], denied: 403 }],
    actsOnKey: 'latest version',
    loads: 'processDefinitionOfKey(path:key)',
    notFound: '404 RestException: none',
  }
}

t.test('an entity that several path parameters name is looked up by all of them', async (t) => {
  const lines = ['grant anna PROCESS_DEFINITION:* READ']
  const byKey = await decide(rowOfKey('POST /novelty/key/:key'), { lines, params: { key: 'a/b' } })
  t.same(byKey.lookedUp, ['processDefinitionOfKey a%2Fb'])
  const params = { key: 'a/b', tenantId: 'c d' }
  const byBoth = await decide(rowOfKey('POST /novelty/key/:key/tenant-id/:tenantId'), { lines, params })
  t.match(byBoth, { answer: 404, lookedUp: ['processDefinitionOfKey a%2Fb/c%20d'] })
})

t.test('a selection that only partly belongs to another tenant is refused as not exact', async (t) => {
  const row: Partial<OperationEntry> = {
    route: 'POST /novelty',
    checks: [
      {
        each: 'externalTasks',
        anyOf: ['PROCESS_INSTANCE.UPDATE each.processInstanceId'],
        denied: 403,
        notFound: '400 RestException: none',
        crossTenant: '404 RestException: of another',
      },
    ],
  }
  const own = { processInstanceId: 'p1', tenantId: 'acme' }
  const foreign = { processInstanceId: 'p2', tenantId: 'globex' }
  const selected = (target: typeof own) => ({ ...target, isSelected: 'true' })
  const lines = ['grant anna PROCESS_INSTANCE:* UPDATE']
  const answerOf = (targets: readonly Attributes[] | null, more: World = {}) =>
    answerTo(row, { lines, findTargets: async () => targets, ...more })
  t.equal(await answerOf([selected(own)]), 'permitted')
  t.equal(await answerOf([selected(own), selected(foreign)]), 'GW_CHECK_NOT_EXACT')
  t.equal(await answerOf([selected(foreign)]), 400, 'all of it: nothing is selected')
  t.equal(await answerOf([own, foreign]), 404, 'what is named is found')
  t.equal(await answerOf([own, foreign], { checksTenants: false }), 'permitted')
  t.equal(await answerOf([own], { lines: [] }), 403)
  t.equal(await answerOf(null), 'GW_CHECK_NOT_EXACT', 'it cannot be found')
  t.equal(
    await answerOf(null, { isOwn: async () => true }),
    'permitted',
    'nothing of it is of another tenant',
  )
  t.equal(await answerOf(null, { isOwn: async () => true, lines: [] }), 'GW_CHECK_NOT_EXACT')
})

t.test('candidates are permitted if each of them is, and otherwise refused as not exact', async (t) => {
  const row: Partial<OperationEntry> = {
    route: 'POST /novelty',
    checks: [
      {
        anyOf: ['PROCESS_INSTANCE.UPDATE each.processInstanceId'],
        each: 'correlatedExecutions',
        denied: 403,
      },
    ],
  }
  const [one, two] = [{ processInstanceId: 'p1' }, { processInstanceId: 'p2' }]
  const lines = ['grant anna PROCESS_INSTANCE:p1 UPDATE']
  const decided = (candidates: readonly Attributes[], more: World = {}) =>
    decide(row, { lines, params: {}, findTargets: async () => ({ candidates }), ...more })
  t.match(await decided([]), { answer: 'permitted' })
  t.match(await decided([one]), { answer: 'permitted' })
  for (const candidates of [[two], [one, two], [two, one]])
    t.match(await decided(candidates), {
      answer: 'GW_CHECK_NOT_EXACT',
      missing: ['0 UPDATE ProcessInstance p2'],
    })
  t.match(await decided([{ ...one, tenantId: 'globex' }]), { answer: 'GW_CHECK_NOT_EXACT' })
})

t.test('a refusal lists the missing permissions of `allOf` and every alternative of `anyOf`', async (t) => {
  const entities = { 'task t1': REVIEW }
  const all: Partial<OperationEntry> = {
    ...TASK_ROW,
    checks: [{ allOf: ['TASK.READ path:id', 'TASK.UPDATE path:id', READ_BY_KEY], denied: 403 }],
  }
  t.match(await decide(all, { entities, lines: ['grant anna TASK:t1 READ'] }), {
    answer: 403,
    missing: ['0 UPDATE Task t1', '1 READ_TASK ProcessDefinition review'],
  })
  t.match(await decide(TASK_ROW, { entities }), {
    answer: 403,
    missing: ['0 READ Task t1', '0 READ_TASK ProcessDefinition review'],
  })
  t.match(await decide(TASK_ROW, { entities, lines: ['revoke anna TASK:t1 READ'] }), {
    answer: 403,
    missing: ['0 READ Task t1'],
  })
})

const exemptRow = (exempt: NonNullable<Check['exempt']>): Partial<OperationEntry> => ({
  ...TASK_ROW,
  checks: [{ ...READ_TASK, exempt }],
})

t.test('an exempt entity is permitted to every caller, and any other entity is not', async (t) => {
  for (const [exempt, attributes, answer] of [
    ['no execution', { processDefinitionKey: 'review' }, 'permitted'],
    ['no execution', { executionId: 'e1' }, 403],
    ['no definition', { executionId: 'e1' }, 'permitted'],
    ['no definition', { processDefinitionKey: 'review' }, 403],
    ['case', { caseExecutionId: 'c1', processDefinitionKey: 'review' }, 'permitted'],
  ] as const)
    t.equal(
      await answerTo(exemptRow(exempt), { entities: { 'task t1': attributes } }),
      answer,
      `${exempt} ${JSON.stringify(attributes)}`,
    )
})
