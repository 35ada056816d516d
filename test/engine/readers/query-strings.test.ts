import t from 'tap'
import { queryOf } from '../../../src/policy/canonical.ts'
import { rowsAsked } from '../../../src/policy/rows.ts'
import { pagingOf } from '../../../src/policy/schemas/parameters.ts'
import { splitAt } from '../../../src/policy/schemas/query-text.ts'
import { taskQueryOf } from '../../../src/policy/task-query.ts'
import { asksItemCounts } from '../../../src/serve-item-counts.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../requirements.ts'
import { seed } from '../seed.ts'
import { compareReaders, type Outcome } from './compare.ts'
import { answerOf, eachOf, openEngine } from './open-engine.ts'
import { canonical } from './targets.ts'
import { textFrom, words } from './texts.ts'
import { verdictOf } from './verdicts.ts'
import { jsonOf, type Wire } from './wire.ts'

const PLAIN = 'ab01&=;,/?:@!$*()~._-+'.split('')
const ENCODED = words(`
    %2B %2b %20 %26 %3D %3B %2C %22 %5C %61 %25 %2525 %3F %23 %5B %00 %0a %7F %C3%A4 %c3%a4
    %F0%9F%98%80 %EF%BB%BF %EF%BF%BD %C2%A0 %E2%80%A8
  `)
/** What is refused, or what the engine's container refuses. */
const ODD = words(`% %zz %C3 %ED%A0%80 %C0%80 %FE %F4%90%80%80 %u0061 [ ] '`)
const NAMES = [
  ...words(`
    sortBy sortBy sortBy s%6FrtBy %73ortBy sortB%79 sortby sortBy+ +sortBy ?sortBy %20sortBy
    sortBy%00 %EF%BB%BFsortBy sort%2542y x sortBy;a ;sortBy sortBy%3D &sortBy
  `),
  '',
]

function makePairs(random: Random): string {
  const pairs: string[] = []
  for (let left = random.below(4); left >= 0; left -= 1) {
    const value = textFrom(random, random.chance(0.5) ? PLAIN : ENCODED, 5)
    pairs.push(random.pick(NAMES) + (random.chance(0.9) ? `=${value}` : ''))
  }
  if (random.chance(0.1)) pairs.push(random.pick(ODD))
  return pairs.join(random.chance(0.95) ? '&' : random.pick(['&&', ';', '%26', '?']))
}

const SAID = /^Cannot set query parameter 'sortBy' to value '(.*)'$/s

t.test('the engine reads the parameters of a query as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, make } = await openEngine(t)

  await compareReaders(t, {
    what: 'names and values',
    inputs: 3000,
    part: 1,
    make: makePairs,
    compare: async (query) => {
      const target = canonical(`/task?${query}`)
      if (target === null) return 'refused'
      const told = await ask({ path: target })
      const answer = jsonOf(told)
      // The container takes fewer characters than the gateway.
      if (answer === undefined && told.status === 400) return null
      const engine =
        told.status === 200 ? null : (SAID.exec(String(Object(answer)['message']))?.[1] ?? answer)
      const gateway = queryOf(target).get('sortBy') ?? null
      return engine === gateway ? null : { engine, gateway }
    },
  })

  const users = [...words('a b A ab ä null + "a" a;b'), ' a', 'a ', ' ', 'a b', '\t', '\u0000', '\u00a0a']
  for (const userId of users)
    await make('POST /authorization/create', {
      type: 1,
      permissions: [],
      userId,
      resourceType: 7,
      resourceId: 'list',
    })
  await compareReaders(t, {
    what: 'lists',
    inputs: 1500,
    part: 2,
    make: (random) =>
      textFrom(random, words(', , a b A + %20 %2C %2B %C3%A4 %09 null %00 %22 ; %C2%A0 %0b %E2%80%83'), 9),
    compare: async (list) => {
      const told = await ask({ path: `/authorization?resourceId=list&userIdIn=${list}` })
      const items = splitAt(queryOf(`/?a=${list}`).get('a') ?? '', ',')
      const engine = eachOf(jsonOf(told), 'userId').map(String).sort()
      const gateway = users.filter((user) => items.length === 0 || items.includes(user)).sort()
      return JSON.stringify(engine) === JSON.stringify(gateway) && told.status === 200
        ? null
        : { engine, gateway, told: answerOf(told) }
    },
  })

  const tenants = Array.from({ length: 12 }, (_, index) => `t${String(index).padStart(2, '0')}`)
  for (const id of tenants) await make('POST /tenant/create', { id, name: id })
  const NUMBERS = [
    ...words(`
    0 1 3 11 12 -1 -2 +1 %2B1 %2B 007 1.0 1e0 %201 1%20 0x1 1,2 -0 %2D1 2147483647 2147483648
    -2147483648 -2147483649 99999999999999999999 %D9%A1%D9%A2 %EF%BC%99 %F0%9D%9F%8F %E0%A5%A7
    1_0 null %00 1%00 %C2%A01 1L 00000000000000000000001 %2B%D9%A1 -%EF%BC%91 %E1%AA%90
    %EA%A7%B1 %E0%B7%A7
  `),
    '',
  ]
  await compareReaders(t, {
    what: 'pages',
    inputs: 1500,
    part: 3,
    make: (random) =>
      random
        .sample(['firstResult', 'maxResults', 'firstResult', 'maxResults', 'maxresults'], random.below(4))
        .map((name) => `${name}=${random.pick(NUMBERS)}`)
        .join('&'),
    compare: async (query) => {
      const told = await ask({ path: `/tenant?sortBy=id&sortOrder=asc&${query}` })
      const paging = pagingOf(queryOf(`/?${query}`))
      // The engine's own words: it must have some.
      if (paging === null) return told.status >= 400 ? null : { engine: answerOf(told), gateway: paging }
      const engine = told.status === 200 ? eachOf(jsonOf(told), 'id') : answerOf(told)
      const gateway = tenants.slice(paging.first, paging.first + paging.max)
      return JSON.stringify(engine) === JSON.stringify(gateway) ? null : { engine, gateway }
    },
  })
})

const FLAG_FRAGMENTS = words(`
    true true TRUE True tRuE false False null 1 0 2 -1 1.0 1.5 0.0 1e0 -0 %22 %22 %20 + %09 %0A
    %00 %C2%A0 x , %5C t /**/ %23 [ {} 01 %2B1 %5Cu0074rue 9223372036854775808 NaN
  `)

type Compare = (ask: Wire['ask'], flag: string, text: string) => Promise<Outcome>

const STARTABLE = { where: { query: 'flag', and: ['PROCESS_DEFINITION.READ row:key'] } } as const

/** By what of the gateway's reads them, each with a flag that the engine reads alike and shows. What it refuses is left to it. */
const FLAGS: Readonly<Record<'definitions' | 'counts' | 'topics', Compare>> = {
  async definitions(ask, flag, text) {
    const told = await ask({ path: `/process-definition/count?key=moving&latestVersion=${flag}` })
    const engine = told.status === 200 && Object(jsonOf(told))['count'] === 1
    const gateway = rowsAsked(STARTABLE, { query: new Map([['flag', text]]) }).and !== undefined
    // More may count as true than is.
    return engine && !gateway ? { engine, gateway } : null
  },
  async counts(ask, flag, text) {
    const told = await ask({ path: `/filter?maxResults=1&itemCount=${flag}` })
    const engine = eachOf(jsonOf(told), 'itemCount').some((count) => typeof count === 'number')
    const gateway = asksItemCounts({
      engine: { authorization: 'enforce' },
      operation: { itemCount: 'executeFilterCount' },
      asked: { query: new Map([['itemCount', text]]) },
    })
    return engine === gateway || told.status >= 400 ? null : { engine, gateway }
  },
  async topics(ask, flag, text) {
    const told = await ask({ path: `/external-task/topic-names?withLockedTasks=${flag}` })
    const engine = JSON.stringify(jsonOf(told)) === '[]'
    const query = new Map([
      ['withLockedTasks', text],
      ['withUnlockedTasks', 'true'],
    ])
    const gateway = verdictOf('getTopicNames', { params: {}, query, body: undefined }) !== null
    return engine === gateway || told.status >= 400 ? null : { engine, gateway }
  },
}

t.test('the engine reads flags of a query as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, make, base } = await openEngine(t)
  await seed(base)
  await make('POST /filter/create', { resourceType: 'Task', name: 'f', query: {} })
  await compareReaders(t, {
    what: 'flags',
    inputs: 2000,
    part: 5,
    make: (random) => ({
      flag: textFrom(random, FLAG_FRAGMENTS, random.pick([1, 1, 2, 3, 5])),
      kind: random.pick(['definitions', 'counts', 'topics'] as const),
    }),
    compare: async ({ flag, kind }) => {
      if (canonical(`/?flag=${flag}`) === null) return 'refused'
      return FLAGS[kind](ask, flag, queryOf(`/?flag=${flag}`).get('flag') ?? '')
    },
  })

  await compareReaders(t, {
    what: 'event subscriptions',
    inputs: 1500,
    part: 6,
    make: makeSubscriptionQuery,
    compare: async (query) => {
      const target = canonical(`/event-subscription?${query}`)
      if (target === null) return 'refused'
      const told = await ask({ path: target })
      if (jsonOf(told) === undefined) return null
      const verdict = verdictOf('getEventSubscriptions', {
        params: {},
        query: queryOf(target),
        body: undefined,
      })
      const engine = answerOf(told)
      return verdict === null || JSON.stringify(verdict) === JSON.stringify(engine)
        ? null
        : { engine, gateway: verdict }
    },
  })
})

function makeSubscriptionQuery(random: Random): string {
  const pairs: string[] = []
  for (let left = random.below(3); left >= 0; left -= 1) {
    const [names, fragments] = random.pick([
      [['withoutTenantId', 'includeEventSubscriptionsWithoutTenantId'], FLAG_FRAGMENTS],
      [['eventType', 'eventName', 'tenantIdIn'], TEXT_FRAGMENTS],
      [['sortBy'], ['created', 'tenantId', 'x', '', '+']],
      [['sortOrder'], ['asc', 'desc', 'ASC', '']],
      [
        ['firstResult', 'maxResults'],
        ['0', '1', '%2B1', 'x', ''],
      ],
    ] as const)
    pairs.push(`${random.pick(names)}=${textFrom(random, fragments, random.pick([1, 1, 1, 2, 3]))}`)
  }
  return pairs.join('&')
}

t.test('the engine reads the query of a task query as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask, make } = await openEngine(t)
  await seedTasks(make)

  await compareReaders(t, {
    what: 'task queries',
    inputs: 4500,
    part: 4,
    make: makeTaskQuery,
    compare: async (query) => {
      const target = canonical(`/task?${query}`)
      if (target === null) return 'refused'
      const told = await ask({ path: target })
      const engine = answerOf(told)
      if (jsonOf(told) === undefined && told.status === 400) return null
      const verdict = verdictOf('getTasks', { params: {}, query: queryOf(target), body: undefined })
      if (verdict !== null)
        return JSON.stringify(verdict) === JSON.stringify(engine) ? null : { engine, gateway: verdict }
      if (told.status !== 200) return null
      const asked = await ask({
        method: 'POST',
        path: `/task${pagingIn(query)}`,
        headers: { 'content-type': 'application/json' },
        body: taskQueryOf(queryOf(target)),
      })
      const found = [told, asked].map((one) => eachOf(jsonOf(one), 'id').map(String).sort())
      return asked.status === 200 && JSON.stringify(found[0]) === JSON.stringify(found[1])
        ? null
        : {
            engine: found[0]?.length,
            gateway: asked.status === 200 ? found[1]?.length : answerOf(asked),
            body: String(taskQueryOf(queryOf(target))),
          }
    },
  })
})

function pagingIn(query: string): string {
  const pages = [...queryOf(`/?${query}`)].filter(([name]) => /^(?:first|max)Results?$/.test(name))
  return pages.length === 0 ? '' : `?${new URLSearchParams(pages)}`
}

const NUMBER_FRAGMENTS = words(`
    5 0 50 -1 1 %22 %20 + . .0 e0 E1 - 007 null true x 0x5 2147483648 2147483647. %D9%A5 %2B5 ,
    %00 %09 %5C +5
  `)
const TEXT_FRAGMENTS = [...words('a b Work %25 _ , + %20 %C3%A4 %22 %5C %27 anna ben null A'), '']
const FILTER_FRAGMENTS = words(`
    color red _ _ _eq_ _neq_ _like_ _notLike_ _gt_ _lteq_ , 5 true null %25 + %20 size _EQ_ %22
    - 2020-01-01T00:00:00.000%2B0000 %C3%A4 empty
  `)
const DATE_FRAGMENTS = [
  ...words(`
    2020 -01 -01 T00 :00 :00 .000 %2B0000 +0000 -0500 Z UTC GMT %22 %5C %20 null .0 %D9%A0 T 13
    99 - x 2020-01-01T00:00:00.000%2B0000 2020-01-01T00:00:00.000%2B0000 2020-01-01T00:00:00
    2030-06-01T00:00:00.000-0500 %2B %2B01:00 %2B01 PST CEST Europe/Paris GMT%2B1:00 GMT%2B01
    %00 %09 %C2%A0
  `),
  ' ',
]

const KINDS: Readonly<Record<string, readonly [names: readonly string[], fragments: readonly string[]]>> = {
  boolean: [
    words(`
    unassigned assigned active suspended withoutDueDate withoutTenantId withCandidateGroups
    withoutCandidateUsers variableNamesIgnoreCase includeAssignedTasks
  `),
    FLAG_FRAGMENTS,
  ],
  integer: [['priority', 'minPriority', 'maxPriority'], NUMBER_FRAGMENTS],
  text: [
    [
      'name',
      'nameLike',
      'assignee',
      'nameNotEqual',
      'descriptionLike',
      'candidateGroup',
      'delegationState',
      'tenantId',
    ],
    TEXT_FRAGMENTS,
  ],
  list: [
    [
      'assigneeIn',
      'assigneeNotIn',
      'tenantIdIn',
      'candidateGroups',
      'taskDefinitionKeyIn',
      'processDefinitionKeyIn',
    ],
    TEXT_FRAGMENTS,
  ],
  date: [
    ['dueAfter', 'dueBefore', 'due', 'dueDate', 'createdAfter', 'followUpBeforeOrNotExistent'],
    DATE_FRAGMENTS,
  ],
  variables: [['taskVariables', 'processVariables'], FILTER_FRAGMENTS],
  order: [
    ['sortBy', 'sortOrder', 'sorting'],
    [...words('name priority asc desc ASC id + caseInstanceVariable'), ''],
  ],
  page: [
    ['firstResult', 'maxResults'],
    ['0', '1', '5', '-1', 'x', ''],
  ],
}

function makeTaskQuery(random: Random): string {
  const pairs: string[] = []
  for (let left = random.pick([0, 0, 0, 1, 1, 2]); left >= 0; left -= 1) {
    const [names, fragments] = KINDS[random.pick(Object.keys(KINDS))] ?? [[], []]
    pairs.push(`${random.pick(names)}=${textFrom(random, fragments, random.pick([1, 1, 2, 3, 7]))}`)
  }
  return pairs.join('&')
}

async function seedTasks(make: (route: string, body?: unknown) => Promise<unknown>): Promise<void> {
  const dues = [null, '2020-01-01T00:00:00.000+0000', '2030-06-01T00:00:00.000+0000']
  const names = [...words(String.raw`a ab A a,b ä Work " \ % _ null b`), ' a', '', 'a b']
  for (const [index, name] of names.entries()) {
    const id = `task-${index}`
    await make('POST /task/create', {
      id,
      name,
      description: name,
      assignee: index % 3 === 0 ? name : null,
      due: dues[index % 3],
      followUp: dues[(index + 1) % 3],
      priority: [50, 5, 0, -1, 1][index % 5],
      tenantId: index % 4 === 0 ? name || null : null,
      delegationState: index % 5 === 0 ? 'PENDING' : null,
    })
    if (index % 2 === 0)
      await make(`POST /task/${id}/identity-links`, { groupId: name || 'g', type: 'candidate' })
    const values = {
      color: 'red',
      size: 5,
      empty: '',
      text: name,
      flag: true,
      when: '2020-01-01T00:00:00.000+0000',
    }
    for (const [variable, value] of Object.entries(values).slice(0, index % 7))
      await make(`PUT /task/${id}/localVariables/${variable}`, {
        value,
        ...(variable === 'when' && { type: 'Date' }),
      })
  }
}
