import type { Exchange, Match } from '../pipeline/context.ts'

/** Returns whether the request starts a definition that only nodes with its deployment should start. */
export function hasDeploymentAffinity({ engine, operation }: Match): boolean {
  return operation.starts !== undefined && engine.deploymentOf !== null
}

/** Adds the deployment by which a node is chosen. A request for an unknown definition may go to any node. */
export async function withDeploymentAffinity(exchange: Exchange): Promise<Exchange> {
  const { match, upstreamRequest } = exchange
  const { engine, operation, accessRequest } = match
  if (operation.starts === undefined || engine.deploymentOf === null) return exchange
  const deployment = await engine.deploymentOf(operation.starts, accessRequest)
  return deployment === null ? exchange : { ...exchange, upstreamRequest: { ...upstreamRequest, deployment } }
}
