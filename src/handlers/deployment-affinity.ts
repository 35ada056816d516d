import type { HandlerContext, OperationRequest } from '../pipeline/context.ts'

/** Returns whether the request starts a definition that only nodes with its deployment should start. */
export function hasDeploymentAffinity({ engine, operation }: OperationRequest): boolean {
  return operation.starts !== undefined && engine.deploymentOf !== null
}

/** Adds the deployment by which a node is chosen. A request for an unknown definition may go to any node. */
export async function withDeploymentAffinity(handlerContext: HandlerContext): Promise<HandlerContext> {
  const { context, upstreamRequest } = handlerContext
  const { engine, operation, accessRequest } = context
  if (operation.starts === undefined || engine.deploymentOf === null) return handlerContext
  const deployment = await engine.deploymentOf(operation.starts, accessRequest)
  return deployment === null
    ? handlerContext
    : { ...handlerContext, upstreamRequest: { ...upstreamRequest, deployment } }
}
