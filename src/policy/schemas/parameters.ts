import { isWholeText } from './jackson.ts'
import type { Finding, Received, Rule } from './objection.ts'
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
  const isPaged = ['firstResult', 'maxResults'].every((name) => isPage(query.get(name) ?? ''))
  return isPaged
    ? null
    : { status: 404, type: 'QueryParamException', message: 'HTTP 404 Not Found', code: null }
}

/** As Java's `Integer.valueOf`: no blanks, a sign, digits of any script; an empty text is none. */
function isPage(text: string): boolean {
  return text === '' || (/^[+-]?\p{Nd}+$/u.test(text) && isWholeText(text, 'integer'))
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
