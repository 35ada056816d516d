import type { OperationTool, OperationTools } from '../mcp/operation-tools.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'
import { type DescribedCaller, possibleOperations } from './possible-operations.ts'

/**
 * Returns the tools of which the caller may be permitted some call. It only describes: each call is decided again.
 * @throws GatewayError if the records are too old
 */
export async function visibleTools(
  dependencies: Pick<Dependencies, 'ceilingOf'>,
  tools: OperationTools,
  caller: DescribedCaller,
): Promise<readonly OperationTool[]> {
  const { operations } = await possibleOperations(dependencies, caller)
  return [...tools.values()].filter(({ operation }) => operations.has(operation.id))
}
