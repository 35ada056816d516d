import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import type { EngineDependencies, Dependencies } from '../../../src/pipeline/dependencies.ts'
import type { ListPermit } from '../../../src/lists/answer/decide-list.ts'
import type { ListDecision } from '../../../src/lists/answer/list-decision.ts'
import { PAGING } from '../../../src/request/paging.ts'
import { BASE, openGateway, type Answer, type OpenGateway } from '../../support/open-gateway.ts'
import {
  type Definition,
  PARAMETERS,
  listEngine,
  type ListWorld,
  SORTS,
  type StoredItem,
} from '../../support/list-engine.ts'
import { seedsOf } from '../../support/requirements.ts'

/* A plan returns the same items as filtering. Two gateways are in front of one engine, and one of them may not use plans. */

const SEEDS = Number(process.env['ROW_PLAN_SEEDS'] ?? 2)
const USERS = ['mary', 'anna', 'ben', 'nobody'] as const
const TENANTS = ['acme', 'globex'] as const
const KEYS = ['a', 'b', 'c'] as const
const LISTS = Object.keys(PARAMETERS)
const PERMISSIONS = [
  'READ,READ_INSTANCE,READ_HISTORY',
  'READ_INSTANCE',
  'READ_HISTORY',
  'READ,CREATE_INSTANCE',
]

const GRANTS = [
  'grant anna PROCESS_DEFINITION:a READ,READ_INSTANCE,READ_HISTORY',
  'grant mary PROCESS_DEFINITION:* READ',
]

/** Two definitions with different keys, and one item of each definition in every list. */
const ONE_EACH: ListWorld = (() => {
  const definitions: readonly Definition[] = ['a', 'b'].map((key, index) => ({
    id: `d${index}`,
    key,
    tenantId: null,
  }))
  const items = definitions.map((definition, index): StoredItem => {
    const item = { definition, instanceId: `i${index}`, tenantId: null }
    return { ...item, shown: { ...named({ ...item, shown: { id: '' } }), id: `r${index}` } }
  })
  return { definitions, items: Object.fromEntries(LISTS.map((list) => [list, items])) }
})()

for (const seed of seedsOf(SEEDS)) {
  t.test(`seed ${seed}: a plan lists and counts the same items as filtering`, async (t) => {
    const random = createRandom(seed)
    const world = worldOf(random)
    const records = recordsOf(random, world)
    const engine = listEngine(() => world)
    const settings = { limits: { scannedItems: 100_000 } }
    const filtering = await openGateway(t, { records, engine, settings, wrap: withoutPlans })
    const planning = await openGateway(t, { records, engine, settings })
    // A few items are read instead of counted by definition. With this limit, even two items are too many to read. In every second world,
    // the number of subqueries is limited, too, and keys may have more versions.
    const limits = { scannedItems: 1, ...(seed % 2 === 0 && { subqueries: 4 }) }
    const bounded = await openGateway(t, { records, engine, settings: { limits } })
    for (const user of USERS)
      for (const list of LISTS) {
        for (const asked of queriesOf(random, world, list)) {
          const [expected, answered, unread] = await Promise.all(
            [filtering, planning, bounded].map(({ ask }) => ask(user, asked.route, asked)),
          )
          const title = `${user} ${asked.route} ${JSON.stringify(asked.body ?? '')}`
          t.same(shown(answered), shown(expected), title)
          if (unread?.headers['x-gateway-error'] !== 'GW_ITEMS_NOT_EXACT')
            t.same(shown(unread), shown(expected), `by plan alone: ${title}`)
        }
        const whole = await filtering.ask(user, `GET ${list}`)
        const query = sortOf(random, list)
        const paged = await pagesOf(planning, user, `GET ${list}?${query}`, 3 + random(12))
        const items = query.endsWith('desc') ? itemsIn(whole.body).toReversed() : itemsIn(whole.body)
        t.same(paged.flat(), items, `page by page: ${user} ${list}?${query}`)
      }
  })
}

/** Returns all pages of a list, in order. */
async function pagesOf(
  { ask }: OpenGateway,
  user: string,
  route: string,
  size: number,
): Promise<readonly (readonly unknown[])[]> {
  const pages: (readonly unknown[])[] = []
  for (let first = 0; ; first += size) {
    const { status, body } = await ask(user, `${route}&firstResult=${first}&maxResults=${size}`)
    if (status !== 200) throw new Error(`${status} for ${user} ${route}`)
    const page = itemsIn(body)
    pages.push(page)
    if (page.length < size) return pages
  }
}

function itemsIn(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : []
}

/** Returns the dependencies of a gateway that reads and filters all items. */
function withoutPlans(dependencies: Dependencies): Dependencies {
  const engines = [...dependencies.engines].map(([name, engine]) => [name, filteringEngine(engine)] as const)
  return { ...dependencies, engines: new Map(engines) }
}

function filteringEngine(engine: EngineDependencies): EngineDependencies {
  return { ...engine, permits: { get: (id) => withoutPlan(engine.permits.get(id)) } }
}

function withoutPlan(permit: ListPermit | undefined): ListPermit | undefined {
  if (permit === undefined || permit.decideList === null) return permit
  const { decideList: items } = permit
  return { ...permit, decideList: async (request, other) => filtered(await items(request, other)) }
}

function filtered(decision: ListDecision): ListDecision {
  return decision.strategy === 'scan'
    ? { visibility: 'conditional', strategy: 'scan', postfilter: decision.postfilter }
    : decision
}

function shown(answer: Answer | undefined) {
  return { status: answer?.status, body: answer?.body }
}

type Random = (below: number) => number

/** Returns a generator of numbers that depend only on the seed. */
function createRandom(seed: number): Random {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

function pick<T>(random: Random, list: readonly T[]): T {
  const found = list[random(list.length)]
  if (found === undefined) throw new Error('nothing to choose from')
  return found
}

function worldOf(random: Random): ListWorld {
  const definitions = Array.from({ length: 5 + random(5) }, (_, index): Definition => {
    const tenantId = random(2) === 0 ? null : pick(random, TENANTS)
    const isDeleted = index > 3 && random(4) === 0 ? ({ isDeleted: true } as const) : {}
    return { id: `d${index}`, key: pick(random, KEYS), tenantId, ...isDeleted }
  })
  const alive = definitions.filter(({ isDeleted }) => isDeleted !== true)
  let next = 0
  const idOf = () => `${random(16).toString(16)}-${(next += 1)}`
  const instances = Array.from({ length: 25 }, () => rowOf(random, { id: idOf(), of: alive }))
  const ended = Array.from({ length: 20 }, () => rowOf(random, { id: idOf(), of: definitions }))
  // Some items have their own tenant, because an engine may be configured to choose the tenant.
  const hasOwn = random(3) === 0
  const all = [...instances, ...ended].map((item) =>
    hasOwn && item.definition?.tenantId === null && random(4) === 0 ? { ...item, tenantId: 'acme' } : item,
  )
  const running = all.slice(0, instances.length)
  const below = (of: readonly StoredItem[], isAlone: number): readonly StoredItem[] =>
    Array.from({ length: 30 }, () => {
      const id = idOf()
      const of1 = pick(random, of)
      if (isAlone > 0 && random(isAlone) === 0)
        return alone(id, random(2) === 0 ? null : pick(random, TENANTS))
      return { ...of1, shown: { ...named(of1), id } }
    })
  const cases = Array.from({ length: random(2) * 3 }, () =>
    alone(idOf(), random(2) === 0 ? null : pick(random, TENANTS)),
  )
  return {
    definitions,
    items: {
      '/case-definition': cases
        .slice(0, 1)
        .map((item) => ({ ...item, shown: { id: item.shown.id, key: 'care' } })),
      '/case-instance': cases,
      '/process-instance': running.map((item) => ({
        ...item,
        shown: { id: item.shown.id, definitionId: item.definition?.id, tenantId: item.tenantId },
      })),
      '/execution': below(running, 0).map((item) => ({
        ...item,
        shown: { id: item.shown.id, processInstanceId: item.instanceId, tenantId: item.tenantId },
      })),
      // Some variables belong to instances that wait between two activities. Variables of cases have an activity and no instance.
      '/variable-instance': below(running, random(2) === 0 ? 8 : 0).map((item) =>
        item.instanceId === null && cases.length > 0 && random(2) === 0
          ? caseVariable(pick(random, cases), item.shown.id)
          : {
              ...item,
              shown: {
                ...item.shown,
                taskId: null,
                activityInstanceId: random(8) === 0 ? null : (item.instanceId ?? 'case'),
              },
            },
      ),
      '/external-task': below(running, 0),
      '/incident': below(running, random(2) === 0 ? 5 : 0).map((item) => ({
        ...item,
        shown: {
          id: item.shown.id,
          processDefinitionId: item.definition?.id ?? null,
          processInstanceId: item.instanceId,
          tenantId: item.tenantId,
        },
      })),
      '/job': below(running, random(2) === 0 ? 5 : 0),
      '/job-definition': below(running, 6).map((item) => ({ ...item, instanceId: null })),
      '/event-subscription': below(running, 6).map((item) => ({
        ...item,
        shown: { id: item.shown.id, processInstanceId: item.instanceId, tenantId: item.tenantId },
      })),
      '/history/process-instance': all.map((item) => ({
        ...item,
        shown: { ...named(item), id: item.shown.id },
      })),
      '/history/activity-instance': below(all, 0),
      '/history/task': below(all, random(2) === 0 ? 5 : 0),
      '/history/variable-instance': below(all, random(2) === 0 ? 5 : 0),
      '/history/detail': below(all, random(2) === 0 ? 5 : 0),
      '/history/job-log': below(all, random(2) === 0 ? 5 : 0),
      '/history/external-task-log': below(all, 0),
      '/history/identity-link-log': below(all, random(2) === 0 ? 5 : 0),
      '/history/incident': below(all, random(2) === 0 ? 5 : 0),
    },
  }
}

function rowOf(
  random: Random,
  { id, of }: { readonly id: string; readonly of: readonly Definition[] },
): StoredItem {
  const definition = pick(random, of)
  return { shown: { id }, definition, instanceId: id, tenantId: definition.tenantId }
}

function named({ definition, instanceId, tenantId }: StoredItem) {
  return {
    processDefinitionId: definition?.id ?? null,
    processDefinitionKey: definition?.key ?? null,
    processDefinitionVersion: definition?.isDeleted === true ? null : 1,
    processInstanceId: instanceId,
    executionId: instanceId,
    tenantId,
  }
}

function caseVariable({ shown: { id: caseInstanceId }, tenantId }: StoredItem, id: string): StoredItem {
  const item = alone(id, tenantId)
  return { ...item, shown: { ...item.shown, taskId: null, caseInstanceId, caseExecutionId: caseInstanceId } }
}

function alone(id: string, tenantId: string | null): StoredItem {
  const item = { definition: null, instanceId: null, tenantId }
  return { ...item, shown: { ...named({ ...item, shown: { id } }), id } }
}

function recordsOf(random: Random, { items }: ListWorld): readonly string[] {
  const instances = (items['/process-instance'] ?? []).map(({ shown: { id } }) => id)
  const hasRevokes = random(2) === 0
  return USERS.flatMap((user) =>
    Array.from({ length: random(5) }, () => {
      const kind = hasRevokes && random(3) === 0 ? 'revoke' : random(12) === 0 ? 'everybody' : 'grant'
      const who = kind === 'everybody' ? '' : ` ${user}`
      if (random(3) === 0)
        return `${kind}${who} PROCESS_INSTANCE:${random(8) === 0 ? '*' : pick(random, instances)} READ`
      const key = random(5) === 0 ? '*' : pick(random, [...KEYS, 'unknown'])
      return `${kind}${who} PROCESS_DEFINITION:${key} ${pick(random, PERMISSIONS)}`
    }),
  ).filter((line, index, all) => all.findIndex((other) => subjectOf(other) === subjectOf(line)) === index)
}

/** Returns the part of a line that must be unique: an engine has one record of each kind for one user and one id. */
function subjectOf(line: string): string {
  return line.slice(0, line.lastIndexOf(' '))
}

interface AskedRoute {
  readonly route: string
  readonly body?: Readonly<Record<string, unknown>>
}

function* queriesOf(random: Random, world: ListWorld, list: string): Generator<AskedRoute> {
  const hasPost = OPERATIONS.some(({ method, template }) => method === 'POST' && template === list)
  for (let at = 0; at < 3; at += 1) {
    const own = at === 0 ? {} : ownOf(random, world, list)
    const search = new URLSearchParams(
      Object.entries(own).map(([name, value]) => [name, String(value)] as [string, string]),
    )
    yield { route: `GET ${list}/count?${search}` }
    const [firstResult, maxResults] = [random(12), random(15)]
    const paged = new URLSearchParams({ firstResult: `${firstResult}`, maxResults: `${maxResults}` })
    yield { route: `GET ${list}?${search}` }
    yield { route: `GET ${list}?${search}&${paged}${sortOf(random, list)}` }
    if (!hasPost) continue
    if (list !== '/history/detail') yield { route: `POST ${list}/count`, body: own }
    yield { route: `POST ${list}?${paged}`, body: own }
  }
}

function sortOf(random: Random, list: string): string {
  const by = {
    '/job': 'jobId',
    '/incident': 'incidentId',
    '/history/task': 'taskId',
    '/external-task': 'id',
    '/history/activity-instance': 'activityInstanceId',
  }[list]
  return by === undefined || SORTS[by] === undefined || random(2) === 0
    ? ''
    : `&sortBy=${by}&sortOrder=${random(2) === 0 ? 'asc' : 'desc'}`
}

/** Returns conditions of the caller's own query. */
function ownOf(random: Random, { definitions, items }: ListWorld, list: string): Record<string, unknown> {
  const instances = (items['/process-instance'] ?? []).map(({ shown: { id } }) => id)
  const values: Readonly<Record<string, () => unknown>> = {
    processDefinitionId: () => pick(random, definitions).id,
    processDefinitionKey: () => pick(random, KEYS),
    key: () => pick(random, KEYS),
    processDefinitionKeyIn: () => [pick(random, KEYS), 'unknown'],
    keysIn: () => [pick(random, KEYS), pick(random, KEYS)],
    processDefinitionKeyNotIn: () => [pick(random, KEYS)],
    processInstanceId: () => pick(random, instances),
    processInstanceIds: () => [pick(random, instances), pick(random, instances)],
    processInstanceIdIn: () => [pick(random, instances), pick(random, instances)],
    caseInstanceIdIn: () => [items['/case-instance']?.[0]?.shown.id ?? 'none'],
    tenantIdIn: () => [pick(random, TENANTS)],
    withoutTenantId: () => true,
  }
  const names = (PARAMETERS[list] ?? []).filter((name) => values[name] !== undefined)
  const chosen = [pick(random, names), ...(random(3) === 0 ? [pick(random, names)] : [])]
  return Object.fromEntries(chosen.map((name) => [name, values[name]?.()]))
}

const BUSY = ['/execution', '/external-task', '/job', '/history/activity-instance', '/history/task']

/** A world whose lists change after each read of a list. */
class BusyWorld {
  readonly start: ListWorld
  now: ListWorld
  ever: ListWorld
  isBusy = true
  readonly #random: Random
  #next = 0

  constructor(random: Random) {
    const world = worldOf(random)
    this.#random = random
    this.start = this.#changed(world, (items) => [...items, ...this.#copies(items, 100)])
    this.now = this.start
    this.ever = this.start
  }

  write(): void {
    if (!this.isBusy) return
    const added = new Map(
      BUSY.map((list) => [list, this.#copies(this.now.items[list] ?? [], this.#random(8))]),
    )
    const of = (list: string) => added.get(list) ?? []
    this.ever = this.#changed(this.ever, (items, list) => [...items, ...of(list)])
    this.now = this.#changed(this.now, (items, list) => [
      ...items.toSpliced(this.#random(items.length), this.#random(8)),
      ...of(list),
    ])
  }

  #changed(
    world: ListWorld,
    change: (items: readonly StoredItem[], list: string) => readonly StoredItem[],
  ): ListWorld {
    const lists = BUSY.map((list) => [list, change(world.items[list] ?? [], list)] as const)
    return { ...world, items: { ...world.items, ...Object.fromEntries(lists) } }
  }

  #copies(items: readonly StoredItem[], count: number): readonly StoredItem[] {
    return Array.from({ length: count }, () => {
      const item = pick(this.#random, items)
      const id = `${this.#random(16).toString(16)}-new-${(this.#next += 1)}`
      return { ...item, shown: { ...item.shown, id } }
    })
  }
}

t.test('concurrent writes repeat no item of a page, and lose no item that exists all the time', async (t) => {
  for (const seed of seedsOf(SEEDS)) {
    const random = createRandom(seed)
    const world = new BusyWorld(random)
    const records = recordsOf(random, world.start)
    const answer = listEngine(() => world.now)
    const engine: typeof answer = (request, response) => {
      answer(request, response)
      world.write()
    }
    const settings = { limits: { scannedItems: 100_000 } }
    const { ask, ...gateway } = await openGateway(t, { records, engine, settings })
    for (const user of USERS)
      for (const list of BUSY) {
        const before = world.now
        const whole = idsIn((await ask(user, `GET ${list}`)).body)
        const after = world.now
        const pages = await pagesOf({ ask, ...gateway }, user, `GET ${list}?`, 10 + random(30))
        // The permissions of the caller do not change, so these are all items that were ever visible.
        const { now } = world
        world.isBusy = false
        world.now = world.ever
        const visible = new Set(idsIn((await ask(user, `GET ${list}`)).body))
        world.now = now
        world.isBusy = true
        const title = `seed ${seed} ${user} ${list}`
        for (const page of [whole, ...pages.map(idsIn)]) {
          t.equal(new Set(page).size, page.length, `${title}: none twice`)
          t.same(
            page.filter((id) => !visible.has(id)),
            [],
            `${title}: visible`,
          )
        }
        const left = new Set(after.items[list])
        const standing = (before.items[list] ?? [])
          .filter((item) => left.has(item))
          .map(({ shown: { id } }) => id)
        t.same(
          standing.filter((id) => visible.has(id) && !whole.includes(id)),
          [],
          `${title}: none lost`,
        )
      }
  }
})

function idsIn(body: unknown): readonly string[] {
  return itemsIn(body).map((item) => String(Object(item).id))
}

t.test('a query for items that the caller may not see sends no request for the list', async (t) => {
  const { ask } = await openGateway(t, { records: GRANTS, engine: listEngine(() => ONE_EACH) })
  for (const list of ['/process-instance', '/execution', '/history/activity-instance']) {
    const query = list.startsWith('/history') ? 'processDefinitionId=d1' : 'processDefinitionKey=b'
    const counted = await ask('anna', `GET ${list}/count?${query}`)
    t.same([counted.status, counted.body], [200, { count: 0 }], list)
    t.same(
      counted.forwarded.filter(({ url }) => url.includes(list)),
      [],
      list,
    )
  }
})

t.test('a key may have more versions than the limit of subqueries', async (t) => {
  const versions = Array.from({ length: 9 }, (_, index): Definition => {
    return { id: `d${index}`, key: index < 8 ? 'a' : 'b', tenantId: null }
  })
  const items = versions.map((definition, index): StoredItem => {
    const item = { definition, instanceId: `i${index}`, tenantId: null }
    return { ...item, shown: { ...named({ ...item, shown: { id: '' } }), id: `r${index}` } }
  })
  const world = { definitions: versions, items: Object.fromEntries(LISTS.map((list) => [list, items])) }
  const { ask } = await openGateway(t, {
    records: GRANTS,
    engine: listEngine(() => world),
    // These limits permit neither more subqueries nor filtering.
    settings: { limits: { subqueries: 2, scannedItems: 1 } },
  })
  for (const list of [
    '/job',
    '/process-instance',
    '/history/external-task-log',
    '/history/job-log',
    '/history/process-instance',
    '/history/task',
    '/history/variable-instance',
  ]) {
    const counted = await ask('anna', `GET ${list}/count`)
    t.same([counted.status, counted.body], [200, { count: 8 }], list)
    const listed = await ask('anna', `GET ${list}`)
    t.same(idsIn(listed.body), ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'], list)
  }
})

t.test(
  'counts leave out an individually revoked instance and include an individually granted one',
  async (t) => {
    const { definitions, items } = ONE_EACH
    const instances = (items['/execution'] ?? []).map((item) => ({
      ...item,
      shown: { id: item.instanceId ?? '', definitionId: item.definition?.id, tenantId: item.tenantId },
    }))
    const world = { definitions, items: { ...items, '/process-instance': instances } }
    const { ask } = await openGateway(t, {
      records: [
        'grant anna PROCESS_DEFINITION:* READ_INSTANCE',
        'revoke anna PROCESS_INSTANCE:i0 READ',
        'revoke ben PROCESS_INSTANCE:i0 READ',
        'grant ben PROCESS_INSTANCE:i1 READ',
      ],
      engine: listEngine(() => world),
      // There are too many items to filter, so only a plan can count them.
      settings: { limits: { scannedItems: 1 } },
    })
    for (const user of ['anna', 'ben'])
      for (const list of ['/process-instance', '/execution', '/external-task']) {
        const { status, body } = await ask(user, `GET ${list}/count`)
        t.same([status, body], [200, { count: 1 }], `${user} ${list}`)
      }
  },
)

t.test('the tenants of instances are queried only if their definition has no tenant', async (t) => {
  const definitions = ONE_EACH.definitions.map((one) => ({
    ...one,
    tenantId: one.key === 'a' ? 'acme' : null,
  }))
  const { ask } = await openGateway(t, {
    records: [
      'grant mary PROCESS_DEFINITION:a READ_INSTANCE',
      'grant anna PROCESS_DEFINITION:b READ_INSTANCE',
    ],
    engine: listEngine(() => ({ ...ONE_EACH, definitions })),
    settings: { limits: { scannedItems: 1 } },
  })
  for (const [user, isAsked] of [
    ['mary', false],
    ['anna', true],
  ] as const) {
    const { status, forwarded } = await ask(user, 'GET /execution/count')
    t.equal(status, 200)
    const asked = forwarded.filter(({ body }) => body.includes('processDefinitionWithoutTenantId'))
    t.equal(asked.length > 0, isAsked, user)
  }
})

t.test('a page without items of several subqueries takes one read of the list', async (t) => {
  const { ask, dependencies } = await openGateway(t, {
    records: ['a', 'b'].map((key) => `grant anna PROCESS_DEFINITION:${key} READ_INSTANCE`),
    engine: listEngine(() => ONE_EACH),
  })
  const { status, body, forwarded } = await ask('anna', 'GET /execution?maxResults=0')
  t.same([status, body], [200, []])
  const reads = forwarded.map(({ url }) => url).filter((url) => url.startsWith(`${BASE}/execution`))
  t.same(reads, [`${BASE}/execution?maxResults=100&firstResult=0`])
  const plans = (await dependencies.metrics.text()).match(/^gateway_list_plans_total.*$/gm)
  t.same(plans, ['gateway_list_plans_total{operation="getExecutions",plan="scan"} 1'])
})

/** Lists of variables have a parameter for the form of the values. */
const OF_VALUES = new Set(['/variable-instance', '/history/variable-instance', '/history/detail'])

t.test('a parameter that a list does not have is never sent', async (t) => {
  const { ask } = await openGateway(t, { records: GRANTS, engine: listEngine(() => ONE_EACH) })
  for (const user of ['anna', 'mary'])
    for (const list of LISTS)
      for (const route of [`GET ${list}`, `GET ${list}/count`]) {
        const { forwarded } = await ask(user, route)
        const sent = forwarded
          .map(({ url }) => new URL(url, 'http://engine'))
          .filter(({ pathname }) => route.endsWith(pathname.replace(/^\/engine-rest/, '')))
          .flatMap(({ searchParams }) => [...searchParams.keys()])
        const values = OF_VALUES.has(list) ? ['deserializeValues'] : []
        const known = new Set([...(PARAMETERS[list] ?? []), ...values, ...PAGING, 'sortBy', 'sortOrder'])
        t.same(
          sent.filter((name) => !known.has(name)),
          [],
          `${user} ${route}`,
        )
      }
})

t.test('items of a query with alternatives are filtered', async (t) => {
  const { ask, dependencies } = await openGateway(t, { records: GRANTS, engine: listEngine(() => ONE_EACH) })
  const body = { orQueries: [{ processDefinitionKey: 'a', businessKey: 'x' }] }
  t.equal((await ask('anna', 'POST /history/process-instance/count', { body })).status, 200)
  t.match(
    await dependencies.metrics.text(),
    'gateway_list_plans_total{operation="queryHistoricProcessInstancesCount",plan="scan"} 1',
  )
})

t.test('the metrics count plans and the items that were read for them', async (t) => {
  const { ask, dependencies } = await openGateway(t, { records: GRANTS, engine: listEngine(() => ONE_EACH) })
  for (const route of ['GET /execution', 'GET /execution?processDefinitionKey=b', 'GET /event-subscription'])
    t.equal((await ask('anna', route)).status, 200)
  const text = await dependencies.metrics.text()
  for (const line of [
    'gateway_list_plans_total{operation="getExecutions",plan="rewrite"} 1',
    'gateway_list_plans_total{operation="getExecutions",plan="denied"} 1',
    'gateway_list_plans_total{operation="getEventSubscriptions",plan="scan"} 1',
    'gateway_list_items_total{operation="getExecutions",result="shown"} 1',
  ])
    t.match(text, line)
})

t.test(
  'a caller who sees all definitions except some sees variables of cases, which have an activity',
  async (t) => {
    const records = [
      'grant anna PROCESS_DEFINITION:* READ_INSTANCE,READ_TASK',
      'revoke anna PROCESS_DEFINITION:b READ_INSTANCE,READ_TASK',
    ]
    const ofCase = alone('v', null)
    const variables = [{ ...ofCase, shown: { ...ofCase.shown, activityInstanceId: 'case', taskId: null } }]
    const items = { ...ONE_EACH.items, '/variable-instance': variables }
    const { ask } = await openGateway(t, { records, engine: listEngine(() => ({ ...ONE_EACH, items })) })
    t.same(idsIn((await ask('anna', 'GET /variable-instance')).body), ['v'])
    t.same((await ask('anna', 'GET /variable-instance/count')).body, { count: 1 })
  },
)

t.test(
  'details of visible instances are queried by POST, and counted by finding the end of that list',
  async (t) => {
    const settings = { limits: { scannedItems: 1 } }
    const { ask } = await openGateway(t, { records: GRANTS, engine: listEngine(() => ONE_EACH), settings })
    const askedBy = async (route: string) => {
      const { status, forwarded } = await ask('anna', `GET ${route}`)
      t.equal(status, 200, route)
      const asking = forwarded.filter(({ url, body }) =>
        `${url}${String(body)}`.includes('processInstanceIdIn'),
      )
      return asking.map(({ method, url }) => `${method} ${url.slice(BASE.length).split('?', 1)[0]}`)
    }
    t.same(await askedBy('/history/detail'), ['POST /history/detail'])
    // The engine has no count by POST, and a GET request has no room for many ids.
    t.same(await askedBy('/history/detail/count'), ['POST /history/detail'])
  },
)
