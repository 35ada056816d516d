import { z } from 'zod'

const NAME = /^[A-Za-z][A-Za-z\d-]*$/

/** Headers that the gateway reads or writes itself, and headers of one connection (RFC 9110 section 7.6.1). */
const OWN: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'origin',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-request-id',
])
const OWN_PREFIXES = ['access-control-', 'proxy-', 'sec-websocket-', 'x-forwarded', 'x-gateway-']

/** Parts of names of headers with which a client could claim an identity or an address, or choose another target. */
const CLAIM =
  /user|tenant|group|role|email|identity|principal|subject|remote|cert|ssl|(?:^|-)(?:ip|dn|auth)(?:$|-)|authorized|authenticated|forward|original|rewrite|method|override|engine/

/** Response headers with which a node could act for the gateway: cookies, redirects, and headers that the gateway writes itself. */
const OWN_RESPONSE: ReadonlySet<string> = new Set([
  ...OWN,
  'age',
  'cache-status',
  'clear-site-data',
  'location',
  'refresh',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
])
const OWN_RESPONSE_PREFIXES = [...OWN_PREFIXES, 'ratelimit', 'x-ratelimit', 'x-authorized-']

function isOf(name: string, names: ReadonlySet<string>, prefixes: readonly string[]): boolean {
  return names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

const headerName = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(NAME, 'write a header name of letters, digits and `-`')
  .meta({ title: 'header name' })
  .transform((name) => name.toLowerCase())

const MAX_NAMES = 32

/** Names of request headers that are forwarded in addition to the built-in list. */
export const requestHeaders = z
  .array(
    headerName
      .refine((name) => !isOf(name, OWN, OWN_PREFIXES), {
        error: 'the gateway reads or writes this header itself',
        abort: true,
      })
      .refine(
        (name) => !CLAIM.test(name),
        'a client could claim an identity, a certificate, an address or another target with this header',
      ),
  )
  .max(MAX_NAMES, `at most ${MAX_NAMES} names are permitted`)

/** Names of an engine's response headers that are forwarded to clients in addition to the built-in list. */
export const responseHeaders = z
  .array(
    headerName.refine(
      (name) => !isOf(name, OWN_RESPONSE, OWN_RESPONSE_PREFIXES),
      'a node must not set this header for clients of the gateway',
    ),
  )
  .max(MAX_NAMES, `at most ${MAX_NAMES} names are permitted`)
