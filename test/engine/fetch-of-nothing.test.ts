import { test } from 'tap'
import { operationOf } from '../policy/validation/cases/case.ts'
import { isFullyJudged } from '../../src/policy/validation/validate.ts'
import { javaSkip } from '../support/requirements.ts'
import type { Family } from './build.ts'
import { startSecuredPair } from './secured-pair.ts'

const FAMILIES: readonly Family[] = ['camunda-7.24.0', 'operaton']

const TOPIC = { topicName: 'none', lockDuration: 1000 }
const FETCH = { workerId: 'w', maxTasks: 1, topics: [TOPIC] }

/** Values that a member may have by mistake, or that only some engines accept. */
const ODD_VALUES: readonly unknown[] = [
  null,
  '',
  ' ',
  'text',
  'null',
  '1',
  '٣',
  'true',
  true,
  false,
  0,
  1,
  -1,
  1.5,
  1_800_000,
  2_147_483_648,
  Number.MAX_SAFE_INTEGER,
  [],
  [''],
  [null],
  ['a'],
  ['a', 'a'],
  [5],
  [{}],
  [[]],
  {},
  { a: 'x' },
  { a: 5, b: null, c: true },
  { a: {} },
  { a: [1] },
]

const MEMBERS = ['workerId', 'maxTasks', 'usePriority', 'topics', 'sorting', 'other']
const TOPIC_MEMBERS = [
  'topicName',
  'lockDuration',
  'businessKey',
  'deserializeValues',
  'includeExtensionProperties',
  'localVariables',
  'processDefinitionId',
  'processDefinitionIdIn',
  'processDefinitionKey',
  'processDefinitionKeyIn',
  'processDefinitionVersionTag',
  'processVariables',
  'tenantIdIn',
  'variables',
  'withoutTenantId',
  'other',
]

const without = (object: object, name: string) =>
  Object.fromEntries(Object.entries(object).filter(([one]) => one !== name))

function bodies(): readonly object[] {
  const ofFetch = MEMBERS.flatMap((name) => [
    without(FETCH, name),
    ...ODD_VALUES.map((value) => ({ ...FETCH, [name]: value })),
  ])
  const ofTopic = TOPIC_MEMBERS.flatMap((name) => [
    { ...FETCH, topics: [without(TOPIC, name)] },
    ...ODD_VALUES.map((value) => ({ ...FETCH, topics: [{ ...TOPIC, [name]: value }] })),
  ])
  // No long time to wait: an engine would hold the request.
  const ofPoll = [0, 1, -1, null, '1', 1_800_001].map((asyncResponseTimeout) => ({
    ...FETCH,
    asyncResponseTimeout,
  }))
  return [{}, FETCH, { ...FETCH, topics: [TOPIC, TOPIC] }, ...ofFetch, ...ofTopic, ...ofPoll]
}

for (const family of FAMILIES)
  void test(`a fetch that finds nothing for the caller is accepted only if a secured ${family} accepts it`, {
    skip: javaSkip,
  }, async (t) => {
    const { open } = await startSecuredPair(t, family)
    const { engine, gateway } = await open([{ user: 'none', records: [] }], {
      allowedHazards: ['deserialization'],
    })
    let known = 0
    for (const body of bodies()) {
      const ask = { method: 'POST', path: '/external-task/fetchAndLock', body } as const
      const [atEngine, atGateway] = await Promise.all([engine('none', ask), gateway('none', ask)])
      const isKnown = isFullyJudged(operationOf({ operation: 'fetchAndLock' }), {
        params: {},
        query: new Map(),
        body,
      })
      if (isKnown) known += 1
      if (isKnown) t.same([atEngine.status, atGateway.status], [200, 200], JSON.stringify(body))
      if (atGateway.status !== 200) continue
      t.same([atEngine.body, atGateway.body], [[], []], JSON.stringify(body))
    }
    t.ok(known > 60, 'the gateway knows many bodies that an engine accepts')
  })
