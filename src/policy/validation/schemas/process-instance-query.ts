import { ownText, operatorText } from '../../../errors.ts'
import {
  firstOf,
  isGiven,
  itemsOf,
  DEFER,
  engineException,
  type RuleResult,
  type Members,
} from './engine-error.ts'
import { isObject } from '../../../request/value.ts'
import { isTrue } from '../../../request/java-text.ts'
import { directionFinding, sortingFinding, sortsOf } from './sorting.ts'
import { comparesObjects, filtersFinding, type FilterKind } from './variable-filters.ts'

const sorts = sortsOf('ProcessInstanceQueryDto')
const VARIABLES: FilterKind = { name: 'variable', disorder: 400 }

/** Returns the engine's refusal of the query that selects the instances of an operation. The filters of this query do not read dates. */
export function processInstanceQueryFinding(query: Members): RuleResult {
  return (
    filterFinding(query) ??
    sortingFinding(query, sorts) ??
    (comparesObjects(query['variables']) ? DEFER : null) ??
    directionFinding(query, sorts)
  )
}

/** The lists in the engine's order, with their names in its messages. */
const LISTS = {
  processDefinitionKeyIn: 'processDefinitionKeys',
  processDefinitionKeyNotIn: 'processDefinitionKeyNotIn',
  tenantIdIn: 'tenantIds',
  activityIdIn: 'activity ids',
}

function filterFinding(query: Members): RuleResult {
  return (
    firstOf(itemsOf(query['orQueries']), (block) => (isObject(block) ? filterFinding(block) : DEFER)) ??
    idsFinding(query['processInstanceIds']) ??
    firstOf(Object.entries(LISTS), ([member, name]) => listFinding(query[member], name)) ??
    levelFinding(query) ??
    filtersFinding(query['variables'], VARIABLES, false)
  )
}

function idsFinding(ids: unknown): RuleResult {
  const isEmpty = Array.isArray(ids) && ids.length === 0
  return isEmpty
    ? engineException(500, 'ProcessEngineException', operatorText`Set of process instance ids is empty`)
    : null
}

function listFinding(items: unknown, name: string): RuleResult {
  return itemsOf(items).includes(null)
    ? engineException(500, 'NullValueException', operatorText`${ownText(name)} contains null value`)
    : null
}

function levelFinding(query: Members): RuleResult {
  const clash = [
    ['rootProcessInstances', 'superProcessInstance'],
    ['leafProcessInstances', 'subProcessInstance'],
  ].find(([flag = '', id = '']) => isTrue(query[flag]) && isGiven(query[id]))
  if (clash === undefined) return null
  const [flag = '', id = ''] = clash
  return engineException(
    500,
    'ProcessEngineException',
    operatorText`Invalid query usage: cannot set both ${ownText(flag)} and ${ownText(id)}Id`,
  )
}
