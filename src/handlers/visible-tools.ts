import type { OperationTool, OperationTools } from '../mcp/operation-tools.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { type AwaitedOperations, possibleOperations } from './possible-operations.ts'

/**
 * Returns the tools of which the caller may be permitted some call. It only describes: each call is decided again.
 * @throws GatewayError if the records are too old, or if the tools are not awaited any more
 */
export async function visibleTools(
  dependencies: Pick<Dependencies, 'ceilingOf'>,
  tools: OperationTools,
  awaited: AwaitedOperations,
): Promise<readonly OperationTool[]> {
  const { operations } = await possibleOperations(dependencies, awaited)
  return [...tools.values()].filter(({ operation }) => operations.has(operation.id))
}
