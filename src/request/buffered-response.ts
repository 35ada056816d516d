/** A buffered response. */
export interface BufferedResponse {
  readonly status: number
  /** Names in lower case, without hop-by-hop headers and without `content-length`, which follows from the body. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
  /** True if the node has set a cookie. Clients do not get it. */
  readonly setsCookie?: true
  /** The node that sent the response. Absent if no node is involved. */
  readonly node?: string
}

/** Maximum length of a response that is read as a whole before it is sent. */
export const MAX_READ_BYTES = 64 * 1024 ** 2

/** Maximum length of a response that is read after it was sent. */
export const KEPT_RESPONSE_BYTES = 64 * 1024

/**
 * Releases the memory of a body that is no longer needed. The body is empty afterwards. V8 would keep this memory until there is
 * much of it: 64 MB and more. A body that shares its memory with others is not released.
 */
export function releaseBody({ body }: Pick<BufferedResponse, 'body'>): void {
  const { buffer, byteLength } = body
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
