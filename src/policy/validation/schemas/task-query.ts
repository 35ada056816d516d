import { TASK_QUERY_PARAMETERS } from '../../../operations/published/query-parameters.ts'
import type { QueryText } from './query-text.ts'
import { readQuery } from './query-text.ts'
import { sortsOf } from './sorting.ts'
import type { IsDateText, RequestData } from './engine-error.ts'
import { splitAt } from '../../../request/java-text.ts'

export const taskSorts = sortsOf('TaskQueryDto')

/** Reads a task query from a query string. */
export function readTaskQuery(parameters: RequestData['query'], isDateText: IsDateText): QueryText {
  return readQuery(parameters, {
    parameters: TASK_QUERY_PARAMETERS,
    criteria: taskSorts.by,
    names: ALIASES,
    isDateText,
  })
}

/**
 * Parameters of newer engines (Camunda 7.23, Operaton). Camunda 7.22 ignores them in a query string and in a body, so no
 * rule judges them.
 */
const NEWER_PARAMETERS: ReadonlyMap<string, 'texts' | 'boolean'> = new Map([
  ['taskDefinitionKeyNotIn', 'texts'],
  ['withTaskLocalVariablesInReturn', 'boolean'],
  ['withTaskVariablesInReturn', 'boolean'],
])

/**
 * Converts the parameters of newer engines to members of a body. Returns null if the parameters include one that is not
 * known here, or one that the engine may not read as its body: such a query string has no body with the same meaning.
 */
export function readNewerParameters(
  parameters: RequestData['query'],
): Readonly<Record<string, unknown>> | null {
  const members: Record<string, unknown> = {}
  for (const [name, text] of parameters) {
    if (TASK_QUERY_PARAMETERS.kinds.has(name)) continue
    const kind = NEWER_PARAMETERS.get(name)
    const isFlag = text === 'true' || text === 'false'
    if (kind === undefined || (kind === 'boolean' && !isFlag)) return null
    members[name] = kind === 'boolean' ? text === 'true' : splitAt(text, ',')
  }
  return members
}

/** Both names set the same member. If a query contains both, the later one counts. */
export const ALIASES = { created: 'createdOn', due: 'dueDate', followUp: 'followUpDate' }
