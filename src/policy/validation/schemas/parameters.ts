import { operatorText } from '../../../errors.ts'
import { DEFER, invalid } from './engine-error.ts'
import type { QueryContract } from './query-text.ts'
import { sortingFinding } from './sorting.ts'

/** The rules for a query for event subscriptions. */
export const eventSubscriptionParameters = sortedBy(['created', 'tenantId'])

/**
 * The rules for statistics of activities in the history. The engine reads the query before it determines that the caller may see
 * nothing.
 */
export const activityStatisticsParameters: QueryContract = {
  ...sortedBy(['activityId']),
  find: (text) =>
    text.finding === DEFER ? (text.first ?? DEFER) : (text.finding ?? sortingFinding(text.query)),
}

/** The rules for statistics of the activities of a definition. The engine applies the rule before it looks up the definition. */
export const definitionStatisticsParameters: QueryContract = {
  find: (text, { query }) =>
    text.finding ??
    (query.has('incidents') && query.has('incidentsForType')
      ? invalid(
          operatorText`Only one of the query parameter includeIncidents or includeIncidentsForType can be set.`,
        )
      : null),
}

/** The rules for the schema log. The engine reads the query before it determines that the caller may see nothing. */
export const schemaLogParameters: QueryContract = {
  ...sortedBy(['timestamp']),
  find: (text, { query }) =>
    // Both parameters are invalid. The engine reports the error of `sortOrder` first (7.22).
    text.finding === DEFER
      ? invalid({
          caller: `Cannot set query parameter 'sortOrder' to value '${query.get('sortOrder') ?? ''}'`,
          operator: operatorText`query parameter 'sortOrder'`,
        })
      : (text.finding ?? sortingFinding(text.query)),
}

/** The parameters of the query for topic names. Each is a flag that takes any text. */
export const TOPIC_NAME_PARAMETERS: ReadonlySet<string> = new Set([
  'withLockedTasks',
  'withRetriesLeft',
  'withUnlockedTasks',
])

/** The rules for topic names. An external task cannot be both locked and unlocked: the engine searches for such tasks and finds none. */
export const topicNameParameters: QueryContract = {
  find(_text, { query }) {
    const isBoth = ['withLockedTasks', 'withUnlockedTasks'].every(
      (name) => query.get(name)?.toLowerCase() === 'true',
    )
    return isBoth ? { status: 200, body: [] } : null
  },
}

function sortedBy(criteria: readonly string[]): QueryContract {
  return { criteria, find: (text) => text.finding ?? sortingFinding(text.query) }
}
