import t from 'tap'
import { createVariableTenants } from '../../../src/lists/facts/variable-tenants.ts'
import type { ReadEngine } from '../../../src/policy/authz/entities/look-ups.ts'
import { isRecord } from '../../../src/request/value.ts'
import { MAX_TENANTS } from '../../../src/lists/limits.ts'

type Tenant = string | null

interface Engine {
  readonly variables: readonly Tenant[]
  /** The tenants of the tasks that have variables. The other variables belong to process instances. */
  readonly tasks?: readonly Tenant[]
  /** The tenants of process definitions. Null if there are too many definitions. */
  readonly definitions?: readonly Tenant[] | null
  readonly isNullFirst: boolean
  /** Whether the gateway knows which null values the database sorts first. */
  readonly isOrderKnown?: boolean
  /** A list that the engine does not have. */
  readonly missing?: string
}

/** Opens an engine whose variables have these tenants. Its database sorts null values first, or last, in ascending order. */
function open({
  variables,
  tasks = [],
  definitions = [],
  isNullFirst,
  isOrderKnown = false,
  missing = '/case-instance',
}: Engine) {
  const asked: string[] = []
  const rank = (tenant: Tenant) => (tenant === null ? (isNullFirst ? '' : '~') : tenant)
  const lists: Readonly<Record<string, readonly Tenant[]>> = {
    '/variable-instance': [...variables, ...tasks],
    '/process-instance': variables,
    '/case-instance': [],
    '/task': tasks,
  }
  const read: ReadEngine = async (path, query) => {
    asked.push(path)
    const [target = '', parameters] = path.split('?')
    const list = lists[target.replace(/\/count$/, '')]
    if (list === undefined || target.startsWith(missing)) return null
    if (target.endsWith('/count')) {
      const named: unknown = isRecord(query) ? query['tenantIdIn'] : null
      return { count: list.filter((tenant) => Array.isArray(named) && named.includes(tenant)).length }
    }
    const search = new URLSearchParams(parameters)
    const ascending = list.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
    const sorted = search.get('sortOrder') === 'desc' ? ascending.toReversed() : ascending
    const first = Number(search.get('firstResult'))
    return sorted.slice(first, first + 1).map((tenantId) => ({ tenantId }))
  }
  const { variableTenants, recentVariableTenants } = createVariableTenants(read, {
    definitions: async () =>
      definitions?.map((tenantId, at) => ({ id: `d${at}`, key: 'd', tenantId })) ?? null,
    nullsFirst: async () => (!isOrderKnown ? null : isNullFirst ? 'asc' : 'desc'),
  })
  return { variableTenants, recentVariableTenants, asked }
}

for (const isNullFirst of [true, false])
  t.test(
    `every tenant of variables is found, with null values ${isNullFirst ? 'first' : 'last'}`,
    async (t) => {
      for (const [variables, tenants] of [
        [[], []],
        [[null, null], []],
        [['a'], ['a']],
        [
          ['a', 'b', 'b'],
          ['a', 'b'],
        ],
        [
          ['b', null, 'c', 'a', 'c', null, 'a', 'a'],
          ['a', 'b', 'c'],
        ],
      ] as const) {
        const found = await open({ variables, isNullFirst }).variableTenants()
        t.same(found?.toSorted(), tenants, JSON.stringify(variables))
      }
    },
  )

t.test('an engine with too many tenants is not read to the end', async (t) => {
  const tenants = Array.from({ length: 2 * MAX_TENANTS }, (_, at) => `t${at}`)
  const { variableTenants, asked } = open({ variables: tenants, isNullFirst: true })
  t.equal(await variableTenants(), null)
  t.ok(asked.length <= 2 * MAX_TENANTS + 3, String(asked.length))
})

/** Returns the tenants of variables, and how often the engine sorted its variables for them. */
async function askAll(engine: Omit<Engine, 'isOrderKnown'>) {
  const { variableTenants, asked } = open({ ...engine, isOrderKnown: true })
  const found = (await variableTenants())?.toSorted()
  const sorts = asked.filter((path) => /^\/variable-instance\?.*sortBy/.test(path))
  return { found, sorts: sorts.length }
}

for (const isNullFirst of [true, false])
  t.test(
    `no variables are sorted if only tenants of definitions have some, with null values ${isNullFirst ? 'first' : 'last'}`,
    async (t) => {
      const variables = ['a', null, 'b', 'b', null]
      const ask = (definitions: readonly Tenant[] | null, tasks: readonly Tenant[] = []) =>
        askAll({ variables, tasks, definitions, isNullFirst })
      t.same(await ask(['a', 'b', 'a', null]), { found: ['a', 'b'], sorts: 0 })
      t.same(await ask(['a', 'b'], ['b', null]), { found: ['a', 'b'], sorts: 0 })
      t.same(await ask(['c', 'b', 'a']), { found: ['a', 'b', 'c'], sorts: 0 })
      t.same(await askAll({ variables: [null], definitions: [], isNullFirst }), { found: [], sorts: 0 })
      t.match(await ask(['a', 'b'], ['t']), { found: ['a', 'b', 't'] }, 'a task names another tenant')
      t.match(await ask(['a', null]), { found: ['a', 'b'] }, 'an instance has another tenant')
      t.match(await ask(['z']), { found: ['a', 'b'] }, 'another tenant, after the first ones')
      t.match(await ask(null), { found: ['a', 'b'] }, 'too many definitions')
    },
  )

t.test('only the list of cases may be missing', async (t) => {
  for (const [missing, isKnown] of [
    ['/case-instance', true],
    ['/process-instance', false],
    ['/task', false],
  ] as const) {
    const { variableTenants } = open({
      variables: ['a'],
      tasks: ['a'],
      definitions: ['a'],
      isNullFirst: true,
      isOrderKnown: true,
      missing,
    })
    if (isKnown) t.same(await variableTenants(), ['a'])
    else await t.rejects(variableTenants(), { code: 'GW_UPSTREAM_INVALID' }, missing)
  }
})

t.test('the last result is remembered, unless there were too many tenants', async (t) => {
  const few = open({ variables: ['a'], isNullFirst: true })
  t.equal(few.recentVariableTenants(), null)
  await few.variableTenants()
  t.same(few.recentVariableTenants(), ['a'])
  const many = open({ variables: Array.from({ length: 100 }, (_, at) => `t${at}`), isNullFirst: true })
  await many.variableTenants()
  t.equal(many.recentVariableTenants(), null)
})
