import type { GatewayProcess } from './gateway-process.ts'

/** Returns the number of successful attempts at each node. */
export async function requestsByNode({
  adminAddress,
}: Pick<GatewayProcess, 'adminAddress'>): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${adminAddress}/metrics`)).text()
  const counts = new Map<string, number>()
  for (const [, node = '', count] of text.matchAll(
    /^gateway_upstream_attempts_total\{[^}]*node="([^"]+)",result="ok"[^}]*\} (\d+)$/gm,
  ))
    counts.set(node, (counts.get(node) ?? 0) + Number(count))
  return counts
}
