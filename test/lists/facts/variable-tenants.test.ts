import t from 'tap'
import { createVariableTenants } from '../../../src/lists/facts/variable-tenants.ts'
import type { ReadEngine } from '../../../src/policy/authz/entities/look-ups.ts'
import { isRecord } from '../../../src/request/value.ts'
import { MAX_TENANTS } from '../../../src/lists/limits.ts'

type Tenant = string | null

interface Engine {
  readonly variables: readonly Tenant[]
  /** The tenants of process definitions. Null if there are too many definitions. */
  readonly definitions?: readonly Tenant[] | null
  readonly isNullFirst: boolean
  /** Whether the gateway knows which null values the database sorts first. */
  readonly isOrderKnown?: boolean
}

/** Opens an engine whose variables have these tenants. Its database sorts null values first, or last, in ascending order. */
function open({ variables, definitions = [], isNullFirst, isOrderKnown = false }: Engine) {
  const asked: string[] = []
  const rank = (tenant: Tenant) => (tenant === null ? (isNullFirst ? '' : '~') : tenant)
  const ascending = variables.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
  const read: ReadEngine = async (path, query) => {
    asked.push(path)
    if (path === '/variable-instance/count') {
      const named: unknown = isRecord(query) ? query['tenantIdIn'] : null
      return { count: variables.filter((tenant) => Array.isArray(named) && named.includes(tenant)).length }
    }
    const search = new URLSearchParams(path.split('?')[1])
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
async function askAll(
  isNullFirst: boolean,
  variables: readonly Tenant[],
  definitions: readonly Tenant[] | null,
) {
  const { variableTenants, asked } = open({ variables, definitions, isNullFirst, isOrderKnown: true })
  const found = (await variableTenants())?.toSorted()
  return { found, sorts: asked.filter((path) => path.includes('sortBy')).length }
}

for (const isNullFirst of [true, false])
  t.test(
    `the list is sorted once if only tenants of definitions have variables, with null values ${isNullFirst ? 'first' : 'last'}`,
    async (t) => {
      const variables = ['a', null, 'b', 'b', null]
      t.same(await askAll(isNullFirst, variables, ['a', 'b', 'a', null]), { found: ['a', 'b'], sorts: 1 })
      t.same(await askAll(isNullFirst, variables, ['c', 'b', 'a']), { found: ['a', 'b', 'c'], sorts: 1 })
      t.same(await askAll(isNullFirst, [null], []), { found: [], sorts: 1 })
      t.match(
        await askAll(isNullFirst, variables, ['a', null]),
        { found: ['a', 'b'] },
        'a task names another tenant',
      )
      t.match(
        await askAll(isNullFirst, variables, ['z']),
        { found: ['a', 'b'] },
        'another tenant, after the first ones',
      )
      t.match(await askAll(isNullFirst, variables, null), { found: ['a', 'b'] }, 'too many definitions')
    },
  )

t.test('the last result is remembered, unless there were too many tenants', async (t) => {
  const few = open({ variables: ['a'], isNullFirst: true })
  t.equal(few.recentVariableTenants(), null)
  await few.variableTenants()
  t.same(few.recentVariableTenants(), ['a'])
  const many = open({ variables: Array.from({ length: 100 }, (_, at) => `t${at}`), isNullFirst: true })
  await many.variableTenants()
  t.equal(many.recentVariableTenants(), null)
})
