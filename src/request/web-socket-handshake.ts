import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { pickHeaders } from './picked-headers.ts'

/** Headers of the handshake that the application receives. The gateway sets `Connection` and `Upgrade` itself. */
const HANDSHAKE_HEADERS = [
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
] as const

/** A key is 16 bytes in base64 (RFC 6455 section 4.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/
/** A request that names other headers in `Connection` has headers that must not be forwarded, so it is not treated as a handshake. */
const CONNECTION_OPTIONS: ReadonlySet<string> = new Set(['upgrade', 'keep-alive'])
/** RFC 6455 section 1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

type HandshakeRequest = Pick<IncomingMessage, 'method' | 'httpVersion' | 'headers'>

/**
 * Returns whether a request is a complete handshake of version 13 (RFC 6455 section 4.2.1). A request with a body is not:
 * one server could read its bytes as a body, and another one as frames or as a second request.
 */
export function isWebSocketHandshake({ method, httpVersion, headers }: HandshakeRequest): boolean {
  const isHead = method === 'GET' && httpVersion === '1.1'
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (!isHead || hasBody || headers.expect !== undefined) return false
  const options = tokensOf(headers.connection)
  return (
    options.includes('upgrade') &&
    options.every((option) => CONNECTION_OPTIONS.has(option)) &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    KEY.test(headers['sec-websocket-key'] ?? '')
  )
}

/** Returns the headers of a handshake for the application. */
export function handshakeHeadersOf(headers: IncomingHttpHeaders): Record<string, string> {
  return pickHeaders(headers, HANDSHAKE_HEADERS)
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * Returns the headers of a valid 101 response for the client, without those of the application that do not belong to the handshake.
 * Returns null if the response does not accept the handshake that was sent (RFC 6455 section 4.1).
 */
export function acceptedHandshakeOf(
  request: IncomingHttpHeaders,
  response: ResponseHeaders,
): Record<string, string> | null {
  const { upgrade, connection, 'sec-websocket-accept': accept } = response
  const protocol = response['sec-websocket-protocol']
  const extensions = response['sec-websocket-extensions']
  const isAccepted =
    typeof upgrade === 'string' &&
    upgrade.toLowerCase() === 'websocket' &&
    tokensOf(connection).includes('upgrade') &&
    accept === acceptOf(request['sec-websocket-key'] ?? '') &&
    (protocol === undefined || isOffered(protocol, request['sec-websocket-protocol'])) &&
    (extensions === undefined || areOffered(extensions, request['sec-websocket-extensions']))
  if (!isAccepted) return null
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-accept': accept,
    ...(typeof protocol === 'string' && { 'sec-websocket-protocol': protocol }),
    ...(extensions !== undefined && { 'sec-websocket-extensions': String(extensions) }),
  }
}

/** Returns the value of `Sec-WebSocket-Accept` for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64')
}

/** Names of protocols are compared with their case: RFC 6455 section 4.1. */
function isOffered(protocol: string | string[], offered: string | undefined): boolean {
  return typeof protocol === 'string' && listOf(offered).includes(protocol)
}

function areOffered(extensions: string | string[], offered: string | undefined): boolean {
  const names = new Set(listOf(offered).map(nameOf))
  return listOf(String(extensions)).every((extension) => names.has(nameOf(extension)))
}

/** Returns the name of an extension without its parameters. */
function nameOf(extension: string): string {
  const [name = ''] = extension.split(';', 1)
  return name.trim().toLowerCase()
}

function tokensOf(value: string | string[] | undefined): readonly string[] {
  return listOf(value === undefined ? undefined : String(value).toLowerCase())
}

function listOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
