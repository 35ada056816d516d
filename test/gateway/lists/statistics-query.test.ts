import t from 'tap'
import { openGateway } from '../../support/open-gateway.ts'

/*
 * Statistics of activities: a caller who may see none of them gets an empty list if the engine could read the query, and an error
 * otherwise. The responses are those of Camunda 7.22.
 */

const ROUTE = 'GET /history/process-definition/review:1/statistics'
const SORTED_BY_ONE = 'Only a single sorting parameter specified. sortBy and sortOrder required'

/** Returns the message of the engine for a parameter that it cannot read. */
function unread(name: string, value: string, type?: string): string {
  const said = `Cannot set query parameter '${name}' to value '${value}'`
  const shown = type === 'java.util.Date' ? `"${value}"` : value
  return type === undefined ? said : `${said}: Cannot convert value ${shown} to java type ${type}`
}

const REFUSED: readonly (readonly [query: string, message: string])[] = [
  ...['canceled', 'finished', 'completeScope', 'incidents'].map(
    (name) => [`${name}=abc`, unread(name, 'abc', 'java.lang.Boolean')] as const,
  ),
  ...['startedBefore', 'startedAfter', 'finishedBefore', 'finishedAfter'].map(
    (name) => [`${name}=2026-01-01`, unread(name, '2026-01-01', 'java.util.Date')] as const,
  ),
  ['canceled=', unread('canceled', '', 'java.lang.Boolean')],
  ['canceled=true&finished=maybe', unread('finished', 'maybe', 'java.lang.Boolean')],
  ['sortBy=foo&sortOrder=asc', unread('sortBy', 'foo')],
  ['sortBy=activityId&sortOrder=up', unread('sortOrder', 'up')],
  ['sortBy=activityId', SORTED_BY_ONE],
  ['sortOrder=asc', SORTED_BY_ONE],
]

const READ = [
  '',
  'completeScope=1',
  'processInstanceIdIn=a,b',
  'processInstanceIdIn=',
  'sortBy=activityId&sortOrder=desc',
  'unknown=1',
]

t.test(
  'activity statistics are empty for a caller without the permission, unless the query is invalid',
  async (t) => {
    const { ask } = await openGateway(t)
    for (const [query, message] of REFUSED) {
      const { status, body } = await ask('nobody', `${ROUTE}?${query}`)
      t.same([status, body], [400, { type: 'InvalidRequestException', message, code: null }], query)
    }
    for (const query of READ) {
      const { status, body } = await ask('nobody', `${ROUTE}?${query}`)
      t.same([status, body], [200, []], query)
    }
  },
)
