import type { Client } from 'undici'
import { readResponseText } from '../../request/response-text.ts'
import { jsonValueOf, stringIn } from '../../request/value.ts'
import { connectionProblemOf, isConnectTimeout, isUnsent } from '../wire/failure.ts'
import type { ProbeResult } from './health.ts'

export interface ProbeRequest {
  readonly path: string
  readonly headers: string[]
  /** The engine name that the node's response must contain. Null for an application, where only the status counts. */
  readonly engine: string | null
  /** The timeout for the complete response. */
  readonly timeoutMs: number
}

export interface ProbeReport {
  readonly result: ProbeResult
  /** The finding for the log if the response is not valid. */
  readonly detail: string
  /** True if a connection was neither opened nor refused in time. */
  readonly isSilent?: true
  /** True if a server responded that it has no list of engines at this path. */
  readonly isMissing?: true
}

const MAX_BYTES = 64 * 1024
const MAX_REGISTERED_BYTES = 4 * 1024 ** 2
const MAX_DETAIL_CHARS = 200
const MAX_VERSION_CHARS = 50

/**
 * Requests the list of engines of a node, or a page of an application. Uses a new connection, because a reused one does not show
 * whether the node accepts new connections. Redirects are not followed.
 */
export async function probe(client: Client, request: ProbeRequest): Promise<ProbeReport> {
  const { path, headers, engine, timeoutMs } = request
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal, reset: true })
    if (engine === null) return await applicationResultOf(statusCode, body)
    const text = await readResponseText(body, MAX_BYTES)
    if (statusCode === 404)
      return { ...unhealthy('probe', `response status 404 for ${path}`), isMissing: true }
    return statusCode === 200 ? resultOf(text, engine) : unexpected(statusCode)
  } catch (cause) {
    const failed = unhealthy(isUnsent(cause) ? 'refused' : 'probe', connectionProblemOf(cause))
    return isConnectTimeout(cause) ? { ...failed, isSilent: true } : failed
  }
}

/** Returns the deployments that are registered at a node, or null if it does not report them. */
export async function readRegistered(
  client: Client,
  { path, headers, timeoutMs }: Omit<ProbeRequest, 'engine'>,
): Promise<ReadonlySet<string> | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal, reset: true })
    const registered: unknown = JSON.parse(await readResponseText(body, MAX_REGISTERED_BYTES))
    return statusCode === 200 && Array.isArray(registered) ? new Set(registered.map(String)) : null
  } catch {
    return null
  }
}

/**
 * Returns the version that a node reports to the gateway's own credentials, or null if the node is too old to report one.
 * @throws Error with the reason if the node gives no version
 */
export async function readVersion(
  client: Client,
  { path, headers, timeoutMs }: Omit<ProbeRequest, 'engine'>,
): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { statusCode, body } = await client.request({ method: 'GET', path, headers, signal, reset: true })
  const text = await readResponseText(body, MAX_BYTES)
  if (statusCode === 404) return null
  if (statusCode === 401 || statusCode === 403)
    throw new Error(`the node refuses the gateway's credentials: response status ${statusCode}`)
  if (statusCode !== 200) throw new Error(`response status ${statusCode} for /version`)
  return stringIn(jsonValueOf(text), 'version')?.slice(0, MAX_VERSION_CHARS) ?? null
}

/** Returns the result for an application. A redirect leads to a login or to the first page, so it counts as `ok`. At most `MAX_BYTES` are read. */
async function applicationResultOf(status: number, body: AsyncIterable<Buffer>): Promise<ProbeReport> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) break
  }
  return status >= 200 && status < 400 ? { result: 'ok', detail: '' } : unexpected(status)
}

function resultOf(text: string, engine: string): ProbeReport {
  const names = namesOf(JSON.parse(text))
  if (names === null) return unhealthy('probe', 'the response is not a list of engines')
  return names.includes(engine)
    ? { result: 'ok', detail: '' }
    : unhealthy(
        'wrong-engine',
        `the node does not have the engine ${engine}; it has ${names.length === 0 ? 'no engine' : names.join(', ')}`,
      )
}

function namesOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null
  return value.map((one: unknown) =>
    typeof one === 'object' && one !== null && 'name' in one ? String(one.name) : '',
  )
}

function unexpected(status: number): ProbeReport {
  return unhealthy('probe', `response status ${status}`)
}

function unhealthy(result: ProbeResult, detail: string): ProbeReport {
  return { result, detail: detail.slice(0, MAX_DETAIL_CHARS) }
}
