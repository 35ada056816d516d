import { Pool } from 'undici'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/** A request to a path below a base URL. `body` is sent as JSON, `form` as a multipart form. */
export interface Ask {
  readonly method: Method
  readonly path: string
  readonly body?: unknown
  readonly form?: readonly Part[]
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is sent unchanged, instead of `body` and `form`. */
  readonly raw?: Raw
}

/** A body with any content type, or without one. */
export interface Raw {
  readonly type?: string
  readonly text?: string
}

/** One part of a form. A part with a file name is a file. */
export interface Part {
  readonly name: string
  readonly value: string
  readonly file?: string
  readonly type?: string
}

export interface Answer {
  readonly status: number
  readonly type: string
  /** The error code of the gateway. The empty string if the response has no such code. */
  readonly code: string
  readonly bytes: Buffer
}

export type Send = (ask: Ask, credentials?: string) => Promise<Answer>

export interface Client {
  readonly send: Send
  readonly close: () => Promise<void>
}

const BOUNDARY = 'part-of-the-differential-run'

/**
 * Creates a client with persistent connections, because a run sends tens of thousands of requests.
 * @param timeoutMs the timeout for the head of a response, and for each pause in its body
 */
export function createClient(base: string, timeoutMs = 60_000): Client {
  const { origin, pathname } = new URL(base)
  const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  const pool = new Pool(origin, { connections: 16, pipelining: 1, ...limits })
  const prefix = pathname.replace(/\/$/, '')
  return {
    close: () => pool.close(),
    async send(ask, credentials) {
      const request = { method: ask.method, path: prefix + ask.path }
      const { statusCode, headers, body } = await pool
        .request({ ...request, headers: headersOf(ask, credentials), body: bodyOf(ask) })
        .catch((cause: unknown) => {
          throw new Error(`${request.method} ${request.path} at ${origin} has no response`, { cause })
        })
      const bytes = Buffer.from(await body.arrayBuffer())
      return {
        status: statusCode,
        type: textOf(headers['content-type']),
        code: textOf(headers['x-gateway-error']),
        bytes,
      }
    },
  }
}

export function basicOf(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** Returns the JSON of a response, or null if the response has no body. */
export function jsonOf({ bytes }: Answer): unknown {
  return bytes.length === 0 ? null : JSON.parse(bytes.toString('utf8'))
}

function headersOf(ask: Ask, credentials: string | undefined): Record<string, string> {
  return {
    ...ask.headers,
    accept: ask.accept ?? '*/*',
    ...(credentials !== undefined && { authorization: credentials }),
    ...typeOf(ask),
  }
}

function typeOf({ body, form, raw }: Ask): Record<string, string> {
  if (raw !== undefined) return raw.type === undefined ? {} : { 'content-type': raw.type }
  if (form !== undefined) return { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
  return body === undefined ? {} : { 'content-type': 'application/json' }
}

function bodyOf({ body, form, raw }: Ask): string | null {
  if (raw !== undefined) return raw.text ?? null
  if (form === undefined) return body === undefined ? null : JSON.stringify(body)
  const parts = form.map(({ name, value, file, type }) => {
    const named = file === undefined ? '' : `; filename="${file}"`
    const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${named}\r\n${typed}\r\n${value}\r\n`
  })
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
