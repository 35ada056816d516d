/** A buffered answer. */
export interface Answer {
  readonly status: number
  /** Lower-case names, without hop-by-hop headers and without `content-length`: the body knows its length. */
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Buffer
  /** The node has set a cookie, which clients do not get. */
  readonly setsCookie?: true
  /** Which node gave it; absent where nobody has asked one for it. */
  readonly node?: string
}

/** An answer that must be looked at before it goes out is read whole, up to this. */
export const MAX_READ_BYTES = 64 * 1024 ** 2

/** An answer that has gone out is looked at afterwards up to this length. */
export const KEPT_ANSWER_BYTES = 64 * 1024

/**
 * Gives back the memory of a body that nobody needs any more, which is empty from then on. V8 would keep it until there is a
 * lot of such memory: 64 MB and more. A body that shares memory with others stays.
 */
export function releaseBody({ body }: Pick<Answer, 'body'>): void {
  const { buffer, byteLength } = body
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
