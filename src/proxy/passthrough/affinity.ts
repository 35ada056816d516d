import { createHash } from 'node:crypto'
import type { ParsedHeaders } from '../wire/headers.ts'

/** The cookie that identifies the node of a session. Its value does not contain the host. */
export const AFFINITY_COOKIE = 'engine-gateway-node'

export interface Affinity {
  /** Returns the node that the cookies of a request name, or null if they name none of the nodes. `cookies` is the header. */
  readonly nodeOf: (cookies: string | undefined) => string | null
  /** Returns the headers of a response, with a cookie that names the responding node if the client has a session there. */
  readonly remember: (headers: ParsedHeaders, response: AffinityOutcome) => ParsedHeaders
}

interface AffinityOutcome {
  /** The name of the node that responded. */
  readonly node: string
  /** The node that the request's cookie named, or null. */
  readonly wanted: string | null
  /** True if the client uses TLS. */
  readonly isSecure: boolean
}

/**
 * Keeps a session at the node where it began, because applications keep sessions in memory. A session begins with the first cookie
 * in a response. If its node is no longer available, another node takes over, and the application asks the user to log in again.
 * @param nodes the names of the nodes
 */
export function createAffinity(prefix: string, nodes: readonly string[]): Affinity {
  const ids = new Map(nodes.map((node) => [idOf(node), node]))
  return {
    nodeOf: (cookies) => {
      if (cookies === undefined || !cookies.includes(AFFINITY_COOKIE)) return null
      for (const pair of cookies.split(';')) {
        const [name = '', id = ''] = pair.trim().split('=')
        const node = name === AFFINITY_COOKIE ? ids.get(id) : undefined
        if (node !== undefined) return node
      }
      return null
    },
    remember: (headers, { node, wanted, isSecure }) => {
      const { 'set-cookie': cookies } = headers
      if (node === wanted || (wanted === null && cookies === undefined)) return headers
      const own = `${AFFINITY_COOKIE}=${idOf(node)}; Path=${prefix}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
      return { ...headers, 'set-cookie': [...[cookies ?? []].flat(), own] }
    },
  }
}

function idOf(node: string): string {
  return createHash('sha256').update(node).digest('base64url').slice(0, 16)
}
