import { createHash } from 'node:crypto'
import type { ParsedHeaders } from '../wire/headers.ts'

/** Says at which node a session is. Its value names no host. */
export const AFFINITY_COOKIE = 'engine-gateway-node'

export interface Affinity {
  /** The node that the cookies of a request name; null: none of these. `cookies`: the header. */
  readonly nodeOf: (cookies: string | undefined) => string | null
  /** The headers of an answer that a node gave to a request for `wanted`, with a cookie that names the node where the client has a session there. */
  readonly remember: (headers: ParsedHeaders, answer: AnsweredBy) => ParsedHeaders
}

interface AnsweredBy {
  /** Its name. */
  readonly node: string
  /** That the request named; null: none. */
  readonly wanted: string | null
  /** The client came by TLS. */
  readonly isSecure: boolean
}

/**
 * Keeps a session at the node where it began: applications keep it in memory. It begins with the first cookie of an answer.
 * A node that is gone is replaced, and the application has the user log in again.
 * @param nodes their names
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
