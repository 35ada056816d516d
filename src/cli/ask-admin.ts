import { readFileSync } from 'node:fs'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { Option } from 'commander'
import { adminEnvironment, type Config } from '../config/config.ts'
import { messageOf } from '../errors.ts'
import type { AdminRoute } from '../metrics/admin-listener.ts'
import { fetchAt } from '../proxy/wire/fetch-at.ts'
import { readResponseText } from '../request/response-text.ts'
import { CommandError } from './command-failure.ts'
import { collected } from './command.ts'

/** The address of a running gateway's admin listener. */
export interface AdminAddress {
  /** `http://127.0.0.1:9090` */
  readonly origin: string
  readonly token: string | null
  /** The address to connect to, if the name in `origin` has several. Otherwise null. */
  readonly ip: LookupAddress | null
}

export const ADMIN_OPTION = new Option(
  '--admin <URL>',
  'the URL of the admin listener; default: ENGINE_GATEWAY_ADMIN, then the configuration',
)

export const ADMINS_OPTION = new Option(
  '--admin <URL>',
  'the URL of an admin listener; repeat it for several gateways; a name stands for all its addresses; default: ENGINE_GATEWAY_ADMIN, then the configuration',
).argParser(collected)

export const TOKEN_FILE_OPTION = new Option(
  '--token-file <FILE>',
  'a file with its token; default: ENGINE_GATEWAY_ADMIN_TOKEN, then the configuration',
)

interface AdminFlags {
  readonly admin?: string | undefined
  readonly tokenFile?: string | undefined
}

interface AdminsFlags extends Omit<AdminFlags, 'admin'> {
  readonly admin?: readonly string[] | undefined
}

/** Returns all addresses of a name. */
type ResolveName = (name: string) => Promise<readonly LookupAddress[]>

/** Returns the addresses of all gateways that the options name. @throws CommandError */
export async function adminAddressesOf(
  { admin: urls, tokenFile }: AdminsFlags,
  config: Pick<Config, 'admin'>,
  resolve: ResolveName = (name) => lookup(name, { all: true }),
): Promise<readonly AdminAddress[]> {
  const named = urls === undefined ? [undefined] : [...new Set(urls)]
  const resolved = await Promise.all(
    named.map((admin) => withAllAddresses(adminAddressOf({ admin, tokenFile }, config), resolve)),
  )
  return resolved.flat()
}

/** Returns an address for each gateway behind a name, for example behind a headless service of Kubernetes. */
async function withAllAddresses(
  address: AdminAddress,
  resolve: ResolveName,
): Promise<readonly AdminAddress[]> {
  const { hostname } = new URL(address.origin)
  // A name that cannot be resolved fails later, with the usual reason.
  const found = await resolve(hostname.replaceAll(/[[\]]/g, '')).catch(() => [])
  // A gateway may have one address of each version of IP.
  const family = Math.min(...found.map((one) => one.family))
  const ips = found.filter((one) => one.family === family)
  return ips.length < 2 ? [address] : ips.map((ip) => ({ ...address, ip }))
}

/** Returns the name of a gateway in a message. */
export function nameOfAdmin({ origin, ip }: AdminAddress): string {
  return ip === null ? origin : `${origin} (${ip.address})`
}

/** Returns the address from the options, or else from the environment, or else from the configuration. @throws CommandError */
export function adminAddressOf(
  { admin: givenUrl, tokenFile }: AdminFlags,
  { admin }: Pick<Config, 'admin'>,
): AdminAddress {
  const environment = adminEnvironment()
  const token = tokenFile === undefined ? (environment.token ?? ownTokenOf(admin)) : tokenIn(tokenFile)
  const url = givenUrl ?? environment.url
  if (url != null) return { origin: originIn(url), token, ip: null }
  if (admin.port === 0)
    throw new CommandError('admin.port is 0: set the URL of the admin listener with --admin')
  const isAnywhere = admin.host === '0.0.0.0' || admin.host === '::'
  const host = isAnywhere ? '127.0.0.1' : admin.host.includes(':') ? `[${admin.host}]` : admin.host
  return { origin: `${admin.tls === null ? 'http' : 'https'}://${host}:${admin.port}`, token, ip: null }
}

/** Returns the token of the configuration that permits most. */
function ownTokenOf({ token, tokens }: Config['admin']): string | null {
  const best = tokens.find(({ right }) => right === 'change') ?? tokens[0]
  return token ?? best?.token ?? null
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new CommandError(messageOf(error), { cause: error })
  }
}

function originIn(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new CommandError('--admin takes a URL like http://127.0.0.1:9090')
  return url.origin
}

const WITHIN_MS = 30_000
const MAX_BYTES = 16 * 1024 ** 2

/** Returns the JSON response of a running gateway. @throws CommandError with the reason if there is no response */
export async function askAdmin(
  address: AdminAddress,
  { method, path }: Pick<AdminRoute, 'method' | 'path'>,
  question?: unknown,
): Promise<unknown> {
  const { origin, token, ip } = address
  const name = `${nameOfAdmin(address)}${path}`
  const signal = AbortSignal.timeout(WITHIN_MS)
  const headers = {
    accept: 'application/json',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(method === 'POST' && { 'x-requested-by': 'engine-gateway', 'content-type': 'application/json' }),
  }
  const body = question === undefined ? null : JSON.stringify(question)
  try {
    // A redirect would send the token to another server.
    const response = await fetchAt(ip, origin + path, { method, headers, body, signal, redirect: 'error' })
    const text = await readResponseText(response.body, MAX_BYTES)
    if (response.status !== 200) throw new CommandError(`${name}: ${refusalOf(response.status, text)}`)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${name}: ${reasonOfFetch(error)}`, { cause: error })
  }
}

function refusalOf(status: number, text: string): string {
  if (status === 401) return 'the token is missing or wrong: use --token-file'
  if (status === 403 && text.startsWith('the token'))
    return 'the token has only the right to read: use --token-file'
  if (status === 404)
    return 'the page does not exist: check that this is the admin listener of a gateway of this version'
  return `the response is ${status} ${text.split('\n', 1).join('').slice(0, 200)}`
}

/** Returns the reason of a failed `fetch`, which is hidden in the cause of its error. */
function reasonOfFetch(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return `no response within ${WITHIN_MS / 1000} s`
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no response'
  const message = messageOf(cause)
  return message === '' ? code : message
}
