import { integerOf, PAGING } from '../../../request/paging.ts'
import {
  DEFER,
  type RuleResult,
  invalid,
  type IsDateText,
  type RequestData,
  type ValidationRule,
} from './engine-error.ts'
import { readQuery } from './query-text.ts'
import type { Sorts } from './sorting.ts'
import { sortingFinding, sortParameters } from './sorting.ts'

/**
 * The rules for the paging of lists, not of counts. The engine's framework responds to a bad number with "not found", and
 * checks it before it reads the body.
 */
export const pagingRules: readonly ValidationRule[] = [
  {
    find: ({ query }, { template }) => (template.endsWith('/count') ? null : pagingFinding(query)),
  },
]

const eventSubscriptionSorts: Sorts = { by: ['created', 'tenantId'] }

export const eventSubscriptionRules: readonly ValidationRule[] = [
  ...pagingRules,
  { find: ({ query }, { isDateText }) => eventSubscriptionFinding(query, isDateText) },
]

const schemaLogSorts: Sorts = { by: ['timestamp'] }

/** The engine reads the query before it determines that the caller may see nothing. */
export const schemaLogRules: readonly ValidationRule[] = [
  ...pagingRules,
  { find: ({ query }, { isDateText }) => schemaLogFinding(query, isDateText) },
]

const activityStatisticsSorts: Sorts = { by: ['activityId'] }

export const activityStatisticsRules: readonly ValidationRule[] = [
  { find: ({ query }, { isDateText }) => activityStatisticsFinding(query, isDateText) },
]

/** The parameters of the query for topic names. Each is a flag that takes any text. */
export const TOPIC_NAME_PARAMETERS: ReadonlySet<string> = new Set([
  'withLockedTasks',
  'withRetriesLeft',
  'withUnlockedTasks',
])

/** An external task cannot be both locked and unlocked. The engine searches for such tasks and finds none. */
export const topicNameRules: readonly ValidationRule[] = [
  {
    find({ query }) {
      const isBoth = ['withLockedTasks', 'withUnlockedTasks'].every(
        (name) => query.get(name)?.toLowerCase() === 'true',
      )
      return isBoth ? { status: 200, body: [] } : null
    },
  },
]

function pagingFinding(query: RequestData['query']): RuleResult {
  return PAGING.some((name) => Number.isNaN(integerOf(query.get(name))))
    ? { status: 404, type: 'QueryParamException', message: 'HTTP 404 Not Found', code: null }
    : null
}

const EVENT_SUBSCRIPTION = {
  eventSubscriptionId: 'text',
  eventName: 'text',
  eventType: 'text',
  executionId: 'text',
  processInstanceId: 'text',
  activityId: 'text',
  tenantIdIn: 'list',
  withoutTenantId: 'boolean',
  includeEventSubscriptionsWithoutTenantId: 'boolean',
  ...sortParameters(eventSubscriptionSorts),
} as const

/** The parameters of the query for event subscriptions that the rules know. */
export const EVENT_SUBSCRIPTION_PARAMETERS: ReadonlySet<string> = new Set(Object.keys(EVENT_SUBSCRIPTION))

function eventSubscriptionFinding(parameters: RequestData['query'], isDateText: IsDateText): RuleResult {
  const text = readQuery(parameters, { kinds: EVENT_SUBSCRIPTION, isDateText })
  return text.finding ?? sortingFinding(text.query, eventSubscriptionSorts)
}

function schemaLogFinding(parameters: RequestData['query'], isDateText: IsDateText): RuleResult {
  const kinds = { version: 'text', ...sortParameters(schemaLogSorts) } as const
  const text = readQuery(parameters, { kinds, isDateText })
  // Both parameters are invalid. The engine reports this one first (7.22).
  if (text.finding === DEFER)
    return invalid(`Cannot set query parameter 'sortOrder' to value '${parameters.get('sortOrder') ?? ''}'`)
  return text.finding ?? sortingFinding(text.query, schemaLogSorts)
}

function activityStatisticsFinding(parameters: RequestData['query'], isDateText: IsDateText): RuleResult {
  const text = readQuery(parameters, {
    isDateText,
    kinds: {
      canceled: 'boolean',
      finished: 'boolean',
      completeScope: 'boolean',
      incidents: 'boolean',
      startedBefore: 'date',
      startedAfter: 'date',
      finishedBefore: 'date',
      finishedAfter: 'date',
      processInstanceIdIn: 'texts',
      ...sortParameters(activityStatisticsSorts),
    },
  })
  return text.finding ?? sortingFinding(text.query, activityStatisticsSorts)
}
