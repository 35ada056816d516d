import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, readVersion } from './probe.ts'

interface ReachOptions {
  /** The engine's name on its nodes; null: they are those of an application. */
  readonly engine: string | null
  readonly headers: string[]
  /** For the complete answers. */
  readonly withinMs: number
}

/**
 * Asks a node once what the health check asks, and that of an engine for its version, with the gateway's own credentials: what a
 * health check asks for a secured engine answers to everybody. Resolves with the version, or null. @throws Error that says why
 * the node is of no use
 */
export async function reachNode(
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
