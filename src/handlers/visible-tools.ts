import type { OperationTool, OperationTools } from '../mcp/operation-tools.ts'
import { ceilingPermits } from '../operations/ceilings.ts'
import type { LocatedContext } from '../pipeline/context.ts'
import type { Dependencies } from '../pipeline/dependencies.ts'

/** The caller of the endpoint for tools. */
export type ToolCaller = Pick<LocatedContext, 'engine' | 'principal'>

/**
 * Returns the tools of which the caller may be permitted some call. It only describes: each call is decided again.
 * @throws GatewayError if the records are too old
 */
export async function visibleTools(
  { ceilingOf }: Pick<Dependencies, 'ceilingOf'>,
  tools: OperationTools,
  { engine, principal }: ToolCaller,
): Promise<readonly OperationTool[]> {
  const { operations } = await engine.possiblePermits(principal)
  const ceiling = ceilingOf(principal)
  return [...tools.values()].filter(
    ({ operation }) => operations.has(operation.id) && ceilingPermits(ceiling, operation),
  )
}
