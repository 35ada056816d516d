import { GatewayError, operatorText } from '../../errors.ts'
import { type EngineFamily, familyOfNamespace } from '../../operations/published/engine-families.ts'
import { readModelNames } from './model-names.ts'

/**
 * Checks that every family that may run the models can read their namespaces. A model that cannot be read may have any namespace.
 * Nothing is checked if all engines that may run the models are of one family.
 * @param families the families of the groups of nodes that may get requests; null for a family that is not known
 * @throws GatewayError GW_FOREIGN_NAMESPACE; any error that `checkDeadline` throws
 */
export async function checkNamespaces(
  models: readonly Buffer[],
  families: readonly (EngineFamily | null)[],
  checkDeadline: (() => void) | undefined,
): Promise<void> {
  if (haveOneFamily(families)) return
  for (const model of models) {
    const { namespaces, isRead } = await readModelNames(model, checkDeadline)
    for (const namespace of namespaces)
      if (families.some((family) => family === null || family !== familyOfNamespace(namespace)))
        throw new GatewayError('GW_FOREIGN_NAMESPACE', {
          message: {
            caller: `A model has the namespace ${namespace}, which not every group of nodes can read. Use http://camunda.org/schema/1.0/bpmn until only one group is left`,
            operator: operatorText`A model has a namespace that not every group of nodes can read`,
          },
        })
    if (!isRead)
      throw new GatewayError('GW_FOREIGN_NAMESPACE', {
        message: operatorText`A model cannot be read, so its namespaces cannot be checked for both groups of nodes`,
      })
  }
}

/** Returns whether all engines that may run a model are of one family, so that its namespace does not matter. */
export function haveOneFamily(families: readonly (EngineFamily | null)[]): boolean {
  return families.length < 2 || families.every((family) => family === families[0] && family !== null)
}
