import { PUBLISHED_IDS, publishedParameters } from './published/facts.ts'

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
