import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, readVersion } from './probe.ts'

interface ReachOptions {
  /** The engine's name on its nodes. Null for the nodes of an application. */
  readonly engine: string | null
  readonly headers: string[]
  /** The timeout for both responses together. */
  readonly withinMs: number
}

/**
 * Probes a node once and reads the version of an engine with the gateway's own credentials. The version is read because a secured
 * engine responds to a probe without checking credentials. Resolves to the version, or to null.
 * @throws Error that explains why the node is not usable
 */
export async function checkNodeConnection(
  node: Pick<Node, 'origin' | 'connect' | 'probePath' | 'prefix'>,
  { engine, headers, withinMs }: ReachOptions,
): Promise<string | null> {
  const client = new Client(node.origin, { connect: node.connect, allowH2: false })
  const untilMs = performance.now() + withinMs
  try {
    const { result, detail } = await probe(client, {
      path: node.probePath,
      headers,
      engine,
      timeoutMs: withinMs,
    })
    if (result !== 'ok') throw new Error(detail)
    if (engine === null) return null
    const timeoutMs = Math.max(1, Math.round(untilMs - performance.now()))
    return await readVersion(client, { path: `${node.prefix}/version`, headers, timeoutMs })
  } finally {
    await client.destroy()
  }
}
