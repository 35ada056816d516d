import t from 'tap'
import { queryOf } from '../../../src/request/canonical.ts'
import { taskQueryOf } from '../../../src/lists/rewrite/narrow-tasks.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { answerOf, eachOf, openEngine } from './open-engine.ts'
import { FLAG_FRAGMENTS, TEXT_FRAGMENTS } from './query-fragments.ts'
import { canonical } from './targets.ts'
import { textFrom, words } from './texts.ts'
import { refusalOf } from './verdicts.ts'
import { jsonOf, type Told } from './wire.ts'

t.test('the engine parses the query of a task query as the gateway does', { skip: javaSkip }, async (t) => {
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
      const verdict = refusalOf('getTasks', { params: {}, query: queryOf(target), body: undefined })
      if (verdict !== null)
        return JSON.stringify(verdict) === JSON.stringify(engine) ? null : { engine, gateway: verdict }
      const body = taskQueryOf(queryOf(target))
      // Without a body the gateway forwards the GET unchanged.
      if (told.status !== 200 || body === null) return null
      const path = `/task${pagingIn(query)}`
      const headers = { 'content-type': 'application/json' }
      return differenceOf(told, await ask({ method: 'POST', path, headers, body }), body)
    },
  })
})

/** Returns null if the GET and the POST found the same tasks, otherwise the difference. */
function differenceOf(got: Told, posted: Told, body: Buffer) {
  const found = [got, posted].map((one) => eachOf(jsonOf(one), 'id').map(String).sort())
  if (posted.status === 200 && JSON.stringify(found[0]) === JSON.stringify(found[1])) return null
  const gateway = posted.status === 200 ? found[1]?.length : answerOf(posted)
  return { engine: found[0]?.length, gateway, body: String(body) }
}

function pagingIn(query: string): string {
  const pages = [...queryOf(`/?${query}`)].filter(([name]) => /^(?:first|max)Results?$/.test(name))
  return pages.length === 0 ? '' : `?${new URLSearchParams(pages)}`
}

const NUMBER_FRAGMENTS = words(`
    5 0 50 -1 1 %22 %20 + . .0 e0 E1 - 007 null true x 0x5 2147483648 2147483647. %D9%A5 %2B5 ,
    %00 %09 %5C +5
  `)
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
      'taskDefinitionKeyNotIn',
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
