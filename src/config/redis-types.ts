/** A host name or an address, and a port. */
export interface RedisNode {
  readonly host: string
  readonly port: number
}

/** TLS of connections to Redis. The names of files are absolute. */
export interface RedisTls {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
  readonly serverName?: string | undefined
}

interface RedisAccount {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Undefined: without TLS, but for a `rediss://` URL. */
  readonly tls?: RedisTls | undefined
}

/** How Redis is reached: exactly one of `url`, `sentinel` and `cluster` is given. The account is that of the servers that store data. */
export interface RedisSettings extends RedisAccount {
  readonly url?: string | undefined
  readonly sentinel?:
    | (RedisAccount & { readonly nodes: readonly RedisNode[]; readonly master: string })
    | undefined
  readonly cluster?: { readonly nodes: readonly RedisNode[] } | undefined
  readonly database?: number | undefined
}
