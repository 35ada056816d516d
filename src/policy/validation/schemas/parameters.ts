import type { Finding, Received, Rule } from './engine-error.ts'
import { readQuery } from './query-text.ts'
import type { Sorts } from './sorting.ts'
import { sortingFinding, sortParameters } from './sorting.ts'

/** Of lists, not of counts. The engine's framework calls a bad number "not found", and looks before it reads the body. */
export const pagingRules: readonly Rule[] = [
  {
    after: 0,
    find: ({ query }, { template }) => (template.endsWith('/count') ? null : pagingFinding(query)),
  },
]

const eventSubscriptionSorts: Sorts = { by: ['created', 'tenantId'] }

export const eventSubscriptionRules: readonly Rule[] = [
  ...pagingRules,
  { after: 0, find: ({ query }) => eventSubscriptionFinding(query) },
]

const activityStatisticsSorts: Sorts = { by: ['activityId'] }

export const activityStatisticsRules: readonly Rule[] = [
  { after: 0, find: ({ query }) => activityStatisticsFinding(query) },
]

/** No external task is locked and not locked; the engine looks for such ones and finds none. */
export const topicNameRules: readonly Rule[] = [
  {
    after: 0,
    find({ query }) {
      const isBoth = ['withLockedTasks', 'withUnlockedTasks'].every(
        (name) => query.get(name)?.toLowerCase() === 'true',
      )
      return isBoth ? { status: 200, body: [] } : null
    },
  },
]

function pagingFinding(query: Received['query']): Finding {
  return PAGING.some((name) => Number.isNaN(integerOf(query.get(name))))
    ? { status: 404, type: 'QueryParamException', message: 'HTTP 404 Not Found', code: null }
    : null
}

const PAGING = ['firstResult', 'maxResults'] as const

/** What of a list is asked for. */
export interface Paging {
  readonly first: number
  readonly max: number
}

/**
 * The engine finds nothing where one of the numbers is -1. Null: it has its own words: for what is no number, and for any
 * other negative one, which it passes on to its database.
 */
export function pagingOf(query: Received['query']): Paging | null {
  const [first, max] = [integerOf(query.get('firstResult')), integerOf(query.get('maxResults'))]
  if (Number.isNaN(first) || Number.isNaN(max)) return null
  if (first === -1 || max === -1) return { first: 0, max: 0 }
  const paging = { first: first ?? 0, max: max ?? Number.MAX_SAFE_INTEGER }
  return paging.first < 0 || paging.max < 0 ? null : paging
}

const JAVA_INTEGER = { min: -2_147_483_648, max: 2_147_483_647 }

/** A parameter that the engine's framework reads with Java's `Integer.valueOf`: no blanks, a sign, digits of any script of two bytes. Null: none, as an empty text; NaN: no number. */
export function integerOf(text = ''): number | null {
  if (text === '') return null
  const digits = text.replace(/\p{Nd}/gu, (digit) => (digit.length > 1 ? digit : String(valueOf(digit))))
  const value = /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value >= JAVA_INTEGER.min && value <= JAVA_INTEGER.max ? value : Number.NaN
}

/** Every script has its ten digits in a row. */
function valueOf(digit: string): number {
  const code = digit.charCodeAt(0)
  let value = 0
  while (/\p{Nd}/u.test(String.fromCharCode(code - value - 1))) value += 1
  return value
}

function eventSubscriptionFinding(parameters: Received['query']): Finding {
  const text = readQuery(parameters, {
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
  })
  return text.finding ?? sortingFinding(text.query, eventSubscriptionSorts)
}

function activityStatisticsFinding(parameters: Received['query']): Finding {
  const text = readQuery(parameters, {
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
  })
  return text.finding ?? sortingFinding(text.query, activityStatisticsSorts)
}
