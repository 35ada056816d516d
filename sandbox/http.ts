import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Engine } from './data.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** A request as received. */
export interface IncomingRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A request that was matched to its route. */
export interface SandboxRequest {
  readonly engine: Engine
  /** The base URL of this engine with the Host that the client sent. Links are built from it. */
  readonly base: string
  readonly query: URLSearchParams
  readonly body: JsonObject
  /** The decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
}

export interface SandboxResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** An error response in the engine's format. */
export class RestError extends Error {
  readonly status: number
  readonly type: string
  readonly code: number | null

  constructor(status: number, type: string, message: string, code: number | null = null) {
    super(message)
    this.status = status
    this.type = type
    this.code = code
  }

  get reply(): SandboxResponse {
    return json({ type: this.type, message: this.message, code: this.code }, this.status)
  }
}

export function json(value: unknown, status = 200): SandboxResponse {
  return content('application/json', Buffer.from(JSON.stringify(value)), status)
}

export function content(type: string, body: Buffer, status = 200): SandboxResponse {
  return { status, headers: { 'Content-Type': type, 'Content-Length': String(body.length) }, body }
}

export function nothing(): SandboxResponse {
  return { status: 204, headers: {}, body: Buffer.alloc(0) }
}

/** Returns the page with which the servlet container responds before the API receives the request. */
export function html(status: 400 | 404 | 413): SandboxResponse {
  const page = Buffer.from(`<!doctype html><html lang="en"><title>HTTP Status ${status}</title></html>`)
  return content('text/html;charset=utf-8', page, status)
}

/** Resolves to the body of a request, or to null if it is larger than `limitBytes`. */
export async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes: unknown = chunk
    if (!Buffer.isBuffer(bytes)) continue
    size += bytes.length
    if (size <= limitBytes) chunks.push(bytes)
  }
  return size <= limitBytes ? Buffer.concat(chunks) : null
}

/** Returns the members of a JSON body. An absent body has no members. */
export function membersOf(bytes: Buffer): JsonObject {
  const value = parse(bytes)
  if (isJson(value)) return value
  throw new RestError(400, 'InvalidRequestException', '')
}

function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return {}
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return value
  } catch {
    return null
  }
}

export function isJson(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function send(request: IncomingMessage, response: ServerResponse, reply: SandboxResponse): void {
  const headers: Record<string, string> = { ...reply.headers }
  const [path = ''] = (request.url ?? '').split('?')
  // The engine omits the header if the path ends in xml, for every response.
  if (request.method === 'GET' && !path.endsWith('xml')) headers['Cache-Control'] = 'no-cache'
  // The servlet container closes the connection after these responses.
  if (reply.status === 400 || reply.status === 500) headers['Connection'] = 'close'
  response.writeHead(reply.status, '', headers)
  response.end(request.method === 'HEAD' ? undefined : reply.body)
}
