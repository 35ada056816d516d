import type { Exchange, Match } from '../pipeline/context.ts'

/** Whether it starts what only nodes with its deployment should start. */
export function hasDeploymentAffinity({ engine, operation }: Match): boolean {
  return operation.starts !== undefined && engine.deploymentOf !== null
}

/** The deployment that the nodes are chosen by; a definition that nobody knows may go to any of them. */
export async function withDeploymentAffinity(exchange: Exchange): Promise<Exchange> {
  const { match, upstreamRequest } = exchange
  const { engine, operation, accessRequest } = match
  if (operation.starts === undefined || engine.deploymentOf === null) return exchange
  const deployment = await engine.deploymentOf(operation.starts, accessRequest)
  return deployment === null ? exchange : { ...exchange, upstreamRequest: { ...upstreamRequest, deployment } }
}
