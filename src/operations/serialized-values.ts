import { PUBLISHED_IDS, publishedOperation, publishedParameters } from './published/facts.ts'
import { ADDED_VARIABLES } from './table.ts'

/**
 * Query parameters with which the engine returns the stored text of an object. Without them, it creates the object with the classes
 * that the stored variable names.
 */
const PARAMETERS: Readonly<Record<string, string>> = {
  deserializeValue: 'false',
  deserializeValues: 'false',
  disableCustomObjectDeserialization: 'true',
}

/** Parameters that an engine reads (Camunda 7.22) and that the published API calls by another name. */
const UNPUBLISHED: Readonly<Record<string, readonly string[]>> = {
  getHistoricVariableInstance: ['deserializeValue'],
}

type QueryParameter = readonly [name: string, value: string]

const OF_OPERATIONS: ReadonlyMap<string, readonly QueryParameter[]> = new Map(
  PUBLISHED_IDS.flatMap((id) => {
    const names = [...publishedParameters(id), ...(UNPUBLISHED[id] ?? [])]
    const parameters = names.flatMap((name): QueryParameter[] => {
      const value = PARAMETERS[name]
      return value === undefined ? [] : [[name, value]]
    })
    return parameters.length === 0 ? [] : [[id, parameters] as const]
  }),
)

const NONE: readonly QueryParameter[] = []

/** Returns the query parameters with which an operation returns objects as text. Empty if it returns no variables. */
export function serializedValuesOf(operationId: string): readonly QueryParameter[] {
  return OF_OPERATIONS.get(operationId) ?? NONE
}

/** The parameters of lists by their path, for a count that is answered by its list. */
const OF_LISTS: ReadonlyMap<string, readonly QueryParameter[]> = new Map(
  [...OF_OPERATIONS].map(([id, parameters]) => [
    publishedOperation(id)?.route.replace(/^GET /, '') ?? '',
    parameters,
  ]),
)

/** Returns the query parameters with which the list at a path returns objects as text. */
export function serializedValuesAt(path: string): readonly QueryParameter[] {
  return OF_LISTS.get(path) ?? NONE
}

/**
 * Operations that can add the variables of a task to the task. The engine has no parameter with which it adds objects as text, so the
 * gateway requests the tasks without their variables, and adds the variables itself.
 */
const TASK_READS: ReadonlySet<string> = new Set(['getTask', 'getTasks', 'queryTasks'])
const OBJECT_MEMBERS: readonly string[] = Object.keys(ADDED_VARIABLES)
const NO_MEMBERS: readonly string[] = []

/** Returns the members of a query with which the engine creates objects, whatever other members the query has. */
export function objectMembersOf(operationId: string): readonly string[] {
  return TASK_READS.has(operationId) ? OBJECT_MEMBERS : NO_MEMBERS
}

/** Returns whether the value of such a member requests variables. The gateway does not interpret other values: engines read some of them as true. */
export function requestsVariables(value: unknown): boolean {
  return value === true || value === 'true'
}
