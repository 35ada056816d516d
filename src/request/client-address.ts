import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, SocketAddress } from 'node:net'

/** The address of who sends a request: canonical, IPv4 also where it is mapped into IPv6; empty: the connection has none. */
export type ClientAddress = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/** More proxies in a row are nobody's; what they say is not read. */
const MAX_HOPS = 32

/**
 * The last hop that is no trusted proxy, read from the right: each proxy appends whom it heard, so what stands left of an untrusted
 * hop is its own invention. From other peers the headers count for nothing. What cannot be read leaves the nearest address that is known.
 * Sources: RFC 7239 (`Forwarded`); `X-Forwarded-For` has no standard, and some proxies write a port.
 *
 * @param trustedProxies addresses and networks, as `10.0.0.0/8` and `2001:db8::/32`
 * @throws TypeError or RangeError from Node where one of them is none: the configuration has checked them
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
    // A proxy writes one of the two, and may pass on the other as the client has invented it.
    if (byList !== null && byForwarded !== null && byList !== byForwarded) return peer
    return byList ?? byForwarded ?? peer
  }
}

/** Whether a request comes from one of these addresses or networks. @throws as createClientAddress */
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

/** With a port, IPv6 stands in brackets. A port may be obfuscated, too; nobody reads it. */
const WITH_PORT = /^(?:\[([0-9A-Fa-f:.]+)\](?::[\w.-]{1,64})?|([0-9.]+):[\w.-]{1,64})$/

/** Null: `unknown`, an obfuscated identifier (`_hidden`), or what is no address. */
function addressIn(upstreamRequest: string): string | null {
  const text = upstreamRequest.trim()
  const ported = WITH_PORT.exec(text)
  const address = ported?.[1] ?? ported?.[2] ?? text
  return isIP(address) === 0 ? null : canonical(address)
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** One pair and what follows it. Some proxies write an address with its colons and brackets without quotes. */
const PAIR = new RegExp(`[ \\t]*(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s",;=]*))[ \\t]*([;,]|$)`, 'y')

/** The values of `for`, one an element; empty where an element has none. Null: the header cannot be read for certain. */
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
