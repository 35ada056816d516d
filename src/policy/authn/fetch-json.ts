import { messageOf } from '../../errors.ts'
import { readResponseText } from '../../request/response-text.ts'

export interface FetchJsonOptions {
  /** The timeout for the complete response. */
  readonly withinMs: number
  /** The limit for the decoded body. */
  readonly maxBytes: number
}

/** Reads a JSON document. @throws Error with the URL and the reason if the document cannot be read */
export type FetchJson = (url: string, options: FetchJsonOptions) => Promise<unknown>

/** Reads a JSON document with Node's own client. A redirect is an error, because it could lead to an address that is not configured. */
export const fetchJson: FetchJson = async (url, { withinMs, maxBytes }) => {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.timeout(withinMs),
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`response status ${response.status}`)
    }
    return JSON.parse(await readResponseText(response.body, maxBytes))
  } catch (cause) {
    throw new Error(`${url}: ${reasonOf(cause)}`, { cause })
  }
}

/** Returns the reason of an error. The error `fetch failed` contains the reason in its `cause`. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the response is not JSON'
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? causeOf(cause) : messageOf(error)
}

/** Returns the message of a cause, or its code. The message is empty if several addresses of a host refuse the connection. */
function causeOf(cause: Error): string {
  return cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
}
