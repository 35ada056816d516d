import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'

/**
 * Returns the address of the client in canonical form. An IPv4 address that is mapped into IPv6 is returned as IPv4. Empty if the
 * connection has no address.
 */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** A longer chain of proxies does not occur. Further hops are ignored. */
const MAX_HOPS = 32

/**
 * Creates a function that returns the last hop that is not a trusted proxy. The hops are read from the right: each proxy appends
 * the address of its own peer, so an untrusted hop may have invented everything to its left. The headers of other peers are
 * ignored. If a hop cannot be read, the nearest known address is used. Sources: RFC 7239 (`Forwarded`); `X-Forwarded-For` has no
 * standard, and some proxies write a port.
 *
 * @param trustedProxies addresses and networks, as `10.0.0.0/8` and `2001:db8::/32`
 * @throws TypeError or RangeError from Node if one of them is invalid; the configuration has checked them
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return peerOf
  const isTrusted = createTrust(trustedProxies)

  function walk(peer: string, hops: readonly string[]): string {
    let known = peer
    for (const hop of hops.slice(-MAX_HOPS).toReversed()) {
      const address = addressIn(hop)
      if (address === null) return known
      known = address
      if (!isTrusted(address)) return known
    }
    return known
  }

  return (request) => {
    const peer = peerOf(request)
    const { 'x-forwarded-for': list, forwarded } = request.headers
    if ((list === undefined && forwarded === undefined) || !isTrusted(peer)) return peer
    const byList = list === undefined ? null : walk(peer, String(list).split(','))
    const byForwarded = forwarded === undefined ? null : walk(peer, hopsIn(forwarded) ?? [])
    // A proxy writes one of the two headers, and may forward the other as the client has invented it.
    if (byList !== null && byForwarded !== null && byList !== byForwarded) return peer
    return byList ?? byForwarded ?? peer
  }
}

/**
 * Creates a function that returns whether a request comes from one of these addresses or networks.
 * @throws as createClientAddress
 */
export function createIsTrustedPeer(
  trustedProxies: readonly string[],
): (request: Parameters<ClientAddress>[0]) => boolean {
  const isTrusted = createTrust(trustedProxies)
  return (request) => isTrusted(peerOf(request))
}

function peerOf({ socket }: Parameters<ClientAddress>[0]): string {
  const { remoteAddress } = socket
  return remoteAddress === undefined ? '' : canonical(remoteAddress)
}

function createTrust(networks: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (bits === undefined) trusted.addAddress(address, familyOf(address))
    else trusted.addSubnet(address, Number(bits), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

function canonical(address: string): string {
  if (!address.includes(':')) return address
  const [plain = ''] = address.split('%', 1)
  const text = isIP(plain) === 6 ? new SocketAddress({ address: plain, family: 'ipv6' }).address : plain
  return MAPPED.exec(text)?.[1] ?? text
}

/** An address with a port. IPv6 is then in brackets. The port may be obfuscated, and is not used. */
const WITH_PORT = /^(?:\[([0-9A-Fa-f:.]+)\](?::[\w.-]{1,64})?|([0-9.]+):[\w.-]{1,64})$/

/** Returns null for `unknown`, an obfuscated identifier (`_hidden`) or any other text that is not an address. */
function addressIn(upstreamRequest: string): string | null {
  const text = upstreamRequest.trim()
  const ported = WITH_PORT.exec(text)
  const address = ported?.[1] ?? ported?.[2] ?? text
  return isIP(address) === 0 ? null : canonical(address)
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** Matches one pair and the separator after it. Some proxies write an address with colons and brackets without quotes. */
const PAIR = new RegExp(`[ \\t]*(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s",;=]*))[ \\t]*([;,]|$)`, 'y')

/** Returns the value of `for` of each element, or an empty text for an element without it. Null if the header is ambiguous. */
function hopsIn(forwarded: string): readonly string[] | null {
  const hops: string[] = []
  let own: string | null = null
  for (PAIR.lastIndex = 0; PAIR.lastIndex < forwarded.length; ) {
    const [, name = '', quoted, plain, end] = PAIR.exec(forwarded) ?? []
    if (end === undefined) return null
    if (name.toLowerCase() === 'for') {
      if (own !== null) return null
      own = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''
    }
    if (end === ';') continue
    hops.push(own ?? '')
    own = null
  }
  return hops
}
