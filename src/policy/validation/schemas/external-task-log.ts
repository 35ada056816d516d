import { ownText, operatorText } from '../../../errors.ts'
import type { RuleResult, Members, ValidationRule } from './engine-error.ts'
import { firstOf, itemsOf, membersOf, engineException } from './engine-error.ts'
import { directionFinding, sortingFinding, sortsOf } from './sorting.ts'

const sorts = sortsOf('HistoricExternalTaskLogQueryDto')

export const externalTaskLogRules: readonly ValidationRule[] = [
  { find: ({ body }) => queryFinding(membersOf(body)) },
]

/** If one of the lists contains null, the engine's message calls it `activityIds`. If it contains '', the message uses the list's own name. */
const LISTS = {
  activityIdIn: 'activityIds',
  activityInstanceIdIn: 'activityInstanceIds',
  executionIdIn: 'executionIds',
}

function queryFinding(query: Members): RuleResult {
  return (
    firstOf(Object.entries(LISTS), ([member, name]) => listFinding(itemsOf(query[member]), name)) ??
    tenantFinding(itemsOf(query['tenantIdIn'])) ??
    sortingFinding(query, sorts) ??
    directionFinding(query, sorts)
  )
}

function listFinding(items: readonly unknown[], name: string): RuleResult {
  if (items.includes(null))
    return engineException(400, 'NotValidException', operatorText`activityIds contains null value`)
  return items.includes('')
    ? engineException(400, 'NotValidException', operatorText`${ownText(name)} contains empty string`)
    : null
}

function tenantFinding(items: readonly unknown[]): RuleResult {
  return items.includes(null)
    ? engineException(500, 'NullValueException', operatorText`tenantIds contains null value`)
    : null
}
