/** The headers that contain the client and the address it used, for a server behind the gateway. `forwarded`: RFC 7239. */
export type ForwardedKind = 'none' | 'x-forwarded' | 'forwarded'

export interface ForwardedFor {
  /** The client's address, or empty if it has none. */
  readonly client: string
  /** Scheme and host that the client used, for example `https://host:8443`. A path after the host is ignored. */
  readonly address: string
}

/** Returns the forwarding headers. They are always built by the gateway: forwarding headers that the client sent are not passed on. */
export function forwardedHeaders(
  kind: ForwardedKind,
  { client, address }: ForwardedFor,
): Readonly<Record<string, string>> {
  if (kind === 'none') return {}
  const [scheme = '', rest = ''] = address.split('://')
  const [host = ''] = rest.split('/', 1)
  if (kind === 'forwarded') {
    const pairs = [...(client === '' ? [] : [`for=${nodeOf(client)}`]), `host="${host}"`, `proto=${scheme}`]
    return { forwarded: pairs.join(';') }
  }
  return {
    ...(client === '' ? {} : { 'x-forwarded-for': client }),
    'x-forwarded-proto': scheme,
    'x-forwarded-host': host,
  }
}

/** Returns the address in the notation of RFC 7239 section 6: an IPv6 address has brackets and quotes. */
function nodeOf(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address
}
