/** Which headers tell a server behind the gateway who has asked, and by which address. `forwarded`: RFC 7239. */
export type ForwardedKind = 'none' | 'x-forwarded' | 'forwarded'

export interface ForwardedFor {
  /** The client's address; empty: it has none. */
  readonly client: string
  /** What the client writes before the path, as `https://host:8443`; a path behind it is left out. */
  readonly address: string
}

/** Written anew: what a caller itself has sent of them does not pass. */
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

/** RFC 7239 section 6: an IPv6 address stands in brackets and quotes. */
function nodeOf(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address
}
