import { isIP } from 'node:net'
import { z } from 'zod'

/** A variable `${VAR}`. The schema allows it so that editors accept it. It is replaced before the schema reads the value. */
const PLACEHOLDER = String.raw`\$\{[^}]+\}`
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

const amount = (units: Readonly<Record<string, number>>, example: string) =>
  z
    .string(`write it like ${example}`)
    .regex(new RegExp(`^(\\d+(${Object.keys(units).join('|')})|${PLACEHOLDER})$`), `write it like ${example}`)
    .transform((text) => Number.parseInt(text, 10) * (units[text.replace(/^\d+/, '')] ?? Number.NaN))
const amountFrom = (least: number, units: Readonly<Record<string, number>>, example: string) =>
  amount(units, example).refine((value) => value >= least, {
    error: `must be at least ${formatWithUnit(least, units)}`,
    abort: true,
  })
/**
 * Longest duration of a timer. Timers wait for at most 2^31 - 1 ms; longer times become 1 ms. Half an hour is reserved for
 * additions to some of these.
 */
const LONGEST_TIMER_MS = 596 * 3_600_000
/**
 * Milliseconds, written `30s`. The maximum is the longest duration of a timer. 0 is not allowed because many timers take it for
 * no timeout.
 */
export const time = (least = 1) =>
  amountFrom(least, UNIT_MS, '30s')
    .refine((ms) => ms <= LONGEST_TIMER_MS, 'must be at most 596h')
    .meta({ title: `duration from ${least === 0 ? '0s' : formatWithUnit(least, UNIT_MS)} to 596h` })
/** Milliseconds, written `30s`, without a maximum. For durations that are compared with a clock, not used for timers. */
export const age = (least = 0) =>
  amountFrom(least, UNIT_MS, '30s').meta({
    title: `duration of at least ${least === 0 ? '0s' : formatWithUnit(least, UNIT_MS)}`,
  })
/** Bytes, written `2MiB`. */
export const size = (least = 1) =>
  amountFrom(least, UNIT_BYTES, '2MiB').meta({ title: `size of at least ${least}B` })
export const wholeNumber = (min: number, max: number) => {
  const needed = `a whole number from ${min} to ${max} is needed`
  const number = z.int(needed).min(min, needed).max(max, needed)
  return z
    .union([number, textual(String.raw`\d+`).pipe(number)], needed)
    .meta({ title: `whole number from ${min} to ${max}` })
}
export const decimal = (min: number, max: number) => {
  const needed = `a number from ${min} to ${max} is needed`
  const number = z.number(needed).min(min, needed).max(max, needed)
  return z
    .union([number, textual(String.raw`\d+(\.\d+)?`).pipe(number)], needed)
    .meta({ title: `number from ${min} to ${max}` })
}
const textual = (digits: string) =>
  z
    .string()
    .regex(new RegExp(`^(${digits}|${PLACEHOLDER})$`))
    .transform(Number)

/** Formats a value with the largest unit that divides it. */
function formatWithUnit(value: number, units: Readonly<Record<string, number>>): string {
  const [unit, factor] = Object.entries(units).findLast(([, one]) => value % one === 0) ?? ['', 1]
  return `${value / factor}${unit}`
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const NAME_NEEDED = '1 to 64 letters, digits, - and _'
export const engineName = z.string().regex(NAME, NAME_NEEDED)
/** The name of a group of nodes, which is a label of metrics. */
export const groupName = z.string().regex(NAME, NAME_NEEDED)
/** A share from `least` to 1, written `25%`. */
export const percent = (least = 0) => {
  const needed = `a share from ${100 * least}% to 100% is needed, for example 25%`
  return z
    .string(needed)
    .regex(new RegExp(String.raw`^(\d+(\.\d+)?%|${PLACEHOLDER})$`), needed)
    .transform((text) => Number.parseFloat(text) / 100)
    .refine((share) => share >= least && share <= 1, needed)
    .meta({ title: 'share like `25%`' })
}
/** The engine's name on its nodes. The JSON schema has no pattern if a variable is allowed. */
export const remoteName = z
  .string()
  .refine((text) => NAME.test(text), NAME_NEEDED)
  .meta({ title: NAME_NEEDED })
/** The name of a token issuer, which is a label of metrics. */
export const issuerName = z.string().regex(NAME, NAME_NEEDED)
/** Minimum length of a secret that cannot be guessed. The JSON schema has no minimum, because a variable is allowed. */
const LEAST_KEY_CHARS = 32
export const signingKey = z
  .string()
  .refine(
    (text) => text.length >= LEAST_KEY_CHARS,
    `at least ${LEAST_KEY_CHARS} characters are needed, for example the output of \`openssl rand -base64 32\``,
  )
  .meta({ title: `text of at least ${LEAST_KEY_CHARS} characters` })
const ORIGIN = /^https?:\/\/[^/?#@\s*]+$/i
/** A name that is accepted with any port. */
export const adminHost = z
  .string()
  .refine(
    (text) => /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(text),
    'a name without a port is needed',
  )
  .meta({ title: 'name without a port' })
/** A bearer token. RFC 6750 allows fewer characters; all of these fit into a header. */
export const bearerToken = z
  .string()
  .refine((text) => /^[!-~]{16,1024}$/.test(text), '16 to 1,024 visible ASCII characters are needed')
  .meta({ title: '16 to 1,024 visible ASCII characters' })
/** An address, or a network in CIDR notation. A network of all addresses and IPv4 in IPv6 notation are not allowed. */
export const network = z
  .string()
  .refine((text) => {
    const [address = '', bits, ...rest] = text.split('/')
    const family = isIP(address)
    if (family === 0 || rest.length > 0 || /[%]|^::ffff:/i.test(address)) return false
    return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  }, 'an address or a network like 10.0.0.0/8 or 2001:db8::/32 is needed')
  .meta({ title: 'address or network like `10.0.0.0/8`' })
/** An origin as browsers write it in `Origin`: in lower case, without the default port of the scheme. */
export const origin = z
  .string()
  .refine((text) => ORIGIN.test(text) && URL.canParse(text), {
    error: 'write it as in the Origin header: https://NAME or https://NAME:PORT',
    abort: true,
  })
  .transform((text) => new URL(text).origin)
  .meta({ title: 'origin like `https://app.example`' })
/**
 * A URL without credentials, query and fragment, because only its origin and path are used. `instead` says where credentials
 * belong.
 */
const urlWithout = (instead: string) =>
  z
    .url({ protocol: /^https?$/, error: 'an http:// or https:// URL is needed' })
    .refine(
      (text) => !/^[^/]*\/\/[^/?#]*@/.test(text),
      `the URL must not contain a user or password: ${instead}`,
    )
    .refine((text) => !/[?#]/.test(text), 'the URL must not contain ? or #: each request has its own query')
    .meta({ title: '`http://` or `https://` URL without user, query and fragment' })
export const httpUrl = urlWithout('use `credentials` of the engine')
/** The URL that clients use before the base path. */
export const publicUrl = urlWithout('responses contain the URL')
  .max(512, 'at most 512 characters are permitted')
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))
/**
 * The URL of an issuer. OpenID Connect Core 1.0 section 2: no query, no fragment. It is compared exactly, so it is not
 * normalized.
 */
export const issuerUrl = urlWithout('an issuer has none')
/** The URL that receives OTLP over HTTP. */
export const collectorUrl = urlWithout('write them in `traces.headers`')
  .refine((text) => !/\/v1\/traces\/?$/.test(text), 'leave out /v1/traces: the gateway adds it')
  .meta({ title: '`http://` or `https://` URL without user, query, fragment and `/v1/traces`' })
const HEADER_NEEDED = 'a header name that is permitted in an export is needed'
/** A header name: RFC 9110 section 5.6.2. */
export const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, HEADER_NEEDED)
  .refine((name) => !/^(?:content-.*|host|connection|transfer-encoding)$/i.test(name), HEADER_NEEDED)
/**
 * A header name (RFC 9110 section 5.6.2) except `*`. A browser takes `*` for all names except `Authorization`, and with
 * credentials for a literal name.
 */
export const requestHeaderName = z
  .string()
  .refine(
    (text) => /^[\w!#$%&'+.^`|~-]{1,128}$/.test(text),
    'the name of a header is needed; there is no wildcard',
  )
  .meta({ title: 'name of a header' })
/** A header value: RFC 9110 section 5.5, limited to ASCII. */
export const headerValue = z
  .string()
  .refine(
    (text) => /^[\t -~]{0,8192}$/.test(text),
    'up to 8,192 ASCII characters without control characters are needed',
  )
  .meta({ title: 'up to 8,192 ASCII characters' })

/** A name in a list of names. `*` would be the name of no user or group, so it is refused with what to write instead. */
export const listedName = (instead: string) =>
  z.string().refine((name) => name !== '*', `* is no name here and would apply to no one: ${instead}`)
