import type { ClientTls } from './tls-types.ts'

/** A host name or an address, and a port. */
export interface RedisNode {
  readonly host: string
  readonly port: number
}

interface RedisAccount {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Undefined if TLS is not used, except with a `rediss://` URL. */
  readonly tls?: ClientTls | undefined
}

/**
 * The connection to Redis. Exactly one of `url`, `sentinel` and `cluster` is set. The account is for the servers that store data.
 */
export interface RedisSettings extends RedisAccount {
  readonly url?: string | undefined
  readonly sentinel?:
    | (RedisAccount & { readonly nodes: readonly RedisNode[]; readonly master: string })
    | undefined
  readonly cluster?: { readonly nodes: readonly RedisNode[] } | undefined
  readonly database?: number | undefined
}
