import { test } from 'tap'
import { OPERATIONS } from '../../src/operations/all.ts'
import { type Prefilter, prefilterOf } from '../../src/operations/prefilters.ts'
import { type Admin, idOf, textOf } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import { buildWorld } from '../differential/world.ts'
import { javaSkip } from '../support/requirements.ts'
import { startSecuredPair } from './secured-pair.ts'

/** Returns records with all permissions that a list may need, on all definitions or on one. */
const recordsOn = (resourceId: string) => [
  { resourceType: 6, permissions: ['READ', 'READ_INSTANCE', 'READ_TASK', 'READ_HISTORY'], resourceId },
  { resourceType: 10, permissions: ['READ', 'READ_HISTORY'], resourceId },
  { resourceType: 14, permissions: ['READ'], resourceId },
]
const CALLERS = [
  { user: 'outsider', tenants: ['globex'], records: recordsOn('*') },
  { user: 'member', tenants: ['acme'], records: recordsOn('*') },
  {
    user: 'keyed',
    tenants: ['globex'],
    records: ['office', 'mail', 'discount'].flatMap((key) => recordsOn(key)),
  },
]

type Pair = Readonly<Record<string, string>>

void test('two parameters that exclude each other get the response of a secured engine', {
  skip: javaSkip,
}, async (t) => {
  const { admin, open } = await startSecuredPair(t, 'camunda')
  await buildWorld(admin, () => undefined)
  const values = await valuesIn(admin)
  const { engine, gateway } = await open(CALLERS)
  const lists = OPERATIONS.filter(
    ({ items, method }) => prefilterOf(items?.prefilter) !== null && method === 'GET',
  )
  t.ok(lists.length > 30, 'lists and counts')
  for (const { template, items: restriction } of lists)
    await t.test(template, async (t) => {
      const query = prefilterOf(restriction?.prefilter)
      for (const pair of query === null ? [] : pairsOf(query, values))
        for (const { user } of CALLERS) {
          const ask: Ask = { method: 'GET', path: `${template}?${new URLSearchParams(pair)}` }
          const [there, here] = [await engine(user, ask), await gateway(user, ask)]
          const what = `${user}: ${decodeURIComponent(ask.path)}`
          t.equal(here.status, there.status, `${what} ${here.code}`)
          if (there.status === 200) t.same(idsIn(here.body), idsIn(there.body), what)
        }
    })
})

/** Returns each pair of the parameters with which a plan selects items, including those for tenants. */
function pairsOf(query: Prefilter, values: Pair): readonly Pair[] {
  const { key, keys, exceptKeys, definition, instance, instances, tenants } = query
  const kind = keys?.startsWith('decision') === true || tenants.includes('Decision') ? 'decision' : 'process'
  const valueOf = (name: string) => values[`${kind}.${name}`] ?? values[name]
  const singles: readonly (readonly [string | undefined, string | undefined])[] = [
    [key, valueOf('key')],
    [keys, valueOf('keys')],
    [exceptKeys, valueOf('exceptKeys')],
    [definition, values['definition']],
    [instance, values['instance']],
    [instances, values['instances']],
    ['tenantIdIn', 'acme'],
    ['tenantIdIn', 'acme,globex'],
    ['withoutTenantId', 'true'],
    [tenants.startsWith('include') ? tenants : undefined, 'true'],
  ]
  const known = singles.flatMap(([name, value]) =>
    name === undefined || value === undefined ? [] : [[name, value] as const],
  )
  return known.flatMap(([name, value], at) =>
    known
      .slice(at + 1)
      .flatMap(([other, with_]) => (other === name ? [] : [{ [name]: value, [other]: with_ }])),
  )
}

async function valuesIn({ call }: Admin): Promise<Pair> {
  const definition = idOf(await call('GET', '/process-definition?key=office&tenantIdIn=acme'))
  const instance = idOf(await call('GET', '/process-instance?businessKey=office-1'))
  const other = idOf(await call('GET', '/process-instance?businessKey=office-acme'))
  return {
    'process.key': 'office',
    'process.keys': 'office,review',
    'process.exceptKeys': 'review',
    'decision.key': 'discount',
    'decision.keys': 'discount,dish',
    definition,
    instance,
    instances: `${instance},${other}`,
  }
}

/** Returns the sorted ids of the items, or the whole body if it is not a list. */
function idsIn(body: unknown): unknown {
  if (!Array.isArray(body)) return body
  return body.map((item: unknown) => textOf(item, 'id') || JSON.stringify(item)).toSorted()
}
