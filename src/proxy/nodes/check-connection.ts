import { Client } from 'undici'
import type { Node } from './node.ts'
import { probe, type ProbeRequest, readVersion } from './probe.ts'

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
    const request = { path: node.probePath, headers, engine, timeoutMs: withinMs }
    const { result, detail, isMissing } = await probe(client, request)
    if (isMissing === true) throw new Error(`${detail}: ${await placeOfEngine(client, request)}`)
    if (result !== 'ok') throw new Error(detail)
    if (engine === null) return null
    const timeoutMs = Math.max(1, Math.round(untilMs - performance.now()))
    return await readVersion(client, { path: `${node.prefix}/version`, headers, timeoutMs })
  } finally {
    await client.destroy()
  }
}

const USUAL_PREFIX = '/engine-rest'

/** Returns where the REST API is, if it is at its usual path, or else what the URL of a node must contain. */
async function placeOfEngine(client: Client, request: ProbeRequest): Promise<string> {
  const { result } = await probe(client, { ...request, path: `${USUAL_PREFIX}/engine` })
  return result === 'ok'
    ? `the engine is at ${USUAL_PREFIX}: add this path to the URL of the node`
    : `the URL of a node must end with the path of the REST API, for example ${USUAL_PREFIX}`
}
