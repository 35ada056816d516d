/** One request, with a path relative to an engine's base URL. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON unless it is a form. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The value of a JSON response, the bytes of another response, or null if there is no body. */
  readonly body: unknown
}

export async function exchange(
  base: string,
  ask: Ask,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(base + ask.path, {
    method: ask.method,
    headers: { ...typeOf(ask.body), ...headers, ...ask.headers },
    body: bodyOf(ask.body),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  const body: unknown = isJson ? JSON.parse(bytes.toString()) : bytes
  return { status: response.status, headers: response.headers, body: bytes.length === 0 ? null : body }
}

function typeOf(body: unknown): Record<string, string> {
  return body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }
}

function bodyOf(body: unknown): string | FormData | null {
  if (body === undefined) return null
  return body instanceof FormData ? body : JSON.stringify(body)
}
