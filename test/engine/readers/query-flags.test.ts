import t from 'tap'
import { queryOf } from '../../../src/request/canonical.ts'
import { compileRestriction } from '../../../src/policy/authz/visibility/compile-restriction.ts'
import { restrictionFor } from '../../../src/policy/authz/visibility/compile-restriction.ts'
import { requestsItemCounts } from '../../../src/pipeline/check-stored-queries.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { seed } from '../seed.ts'
import { compareReaders, type Outcome } from './compare.ts'
import { answerOf, eachOf, openEngine } from './open-engine.ts'
import { FLAG_FRAGMENTS, TEXT_FRAGMENTS } from './query-fragments.ts'
import { canonical } from './targets.ts'
import { textFrom } from './texts.ts'
import { refusalOf } from './verdicts.ts'
import { jsonOf, type Wire } from './wire.ts'

type Compare = (ask: Wire['ask'], flag: string, text: string) => Promise<Outcome>

const STARTABLE = compileRestriction({
  and: { anyOf: ['PROCESS_DEFINITION.READ item:key'], when: 'query:flag is true' },
})

/**
 * Comparisons by the part of the gateway that reads a flag. Each uses a flag that the engine parses in the same way and
 * whose value it shows. Values that the engine refuses are not compared.
 */
const FLAGS: Readonly<Record<'definitions' | 'counts' | 'topics', Compare>> = {
  async definitions(ask, flag, text) {
    const told = await ask({ path: `/process-definition/count?key=moving&latestVersion=${flag}` })
    const engine = told.status === 200 && Object(jsonOf(told))['count'] === 1
    const gateway = restrictionFor(STARTABLE, { query: new Map([['flag', text]]) }) !== STARTABLE
    // The gateway may treat more values as true than the engine does.
    return engine && !gateway ? { engine, gateway } : null
  },
  async counts(ask, flag, text) {
    const told = await ask({ path: `/filter?maxResults=1&itemCount=${flag}` })
    const engine = eachOf(jsonOf(told), 'itemCount').some((count) => typeof count === 'number')
    const gateway = requestsItemCounts({ handler: 'item counts' }, new Map([['itemCount', text]]))
    return engine === gateway || told.status >= 400 ? null : { engine, gateway }
  },
  async topics(ask, flag, text) {
    const told = await ask({ path: `/external-task/topic-names?withLockedTasks=${flag}` })
    const engine = JSON.stringify(jsonOf(told)) === '[]'
    const query = new Map([
      ['withLockedTasks', text],
      ['withUnlockedTasks', 'true'],
    ])
    const gateway = refusalOf('getTopicNames', { params: {}, query, body: undefined }) !== null
    return engine === gateway || told.status >= 400 ? null : { engine, gateway }
  },
}

t.test('the engine parses flags of a query as the gateway does', { skip: javaSkip }, async (t) => {
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
      const verdict = refusalOf('getEventSubscriptions', {
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
