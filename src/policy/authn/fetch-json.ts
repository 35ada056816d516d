import { messageOf } from '../../errors.ts'

export interface FetchJsonOptions {
  /** For the whole answer. */
  readonly withinMs: number
  /** Of the decoded body. */
  readonly maxBytes: number
}

/** Reads a JSON document. @throws Error that names the URL and says why there is none */
export type FetchJson = (url: string, options: FetchJsonOptions) => Promise<unknown>

/** With node's own client. A redirect is an error: it would lead to where the configuration does not. */
export const fetchJson: FetchJson = async (url, { withinMs, maxBytes }) => {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`the answer is ${response.status}`)
    }
    return JSON.parse(await textOf(response, maxBytes))
  } catch (cause) {
    throw new Error(`${url}: ${reasonOf(cause)}`, { cause })
  }
}

async function textOf({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`the answer is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `fetch failed` has its reason behind it. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the answer is no JSON'
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? causeOf(cause) : messageOf(error)
}

/** Of several addresses that refuse a connection the message is empty. */
function causeOf(cause: Error): string {
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
