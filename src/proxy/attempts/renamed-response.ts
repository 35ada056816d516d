import { GatewayError, operatorText } from '../../errors.ts'
import type { MemberPlace } from '../../operations/published/family-members.ts'
import { wholeHeaders, type ParsedHeaders } from '../wire/headers.ts'
import { MemberRenamer } from '../wire/member-renamer.ts'
import type { Attempt } from './attempt.ts'
import type { Receiver } from './receiver.ts'

/** Renames members of a successful JSON response before another receiver gets it. The response keeps its length. */
export class RenamedResponse<T> implements Receiver<T> {
  readonly #receiver: Receiver<T>
  readonly #root: MemberPlace
  /** Null if nothing is renamed in the response of this attempt. */
  #renamer: MemberRenamer | null = null

  constructor(receiver: Receiver<T>, root: MemberPlace) {
    this.#receiver = receiver
    this.#root = root
  }

  onStart(attempt: Attempt): void {
    this.#renamer = null
    this.#receiver.onStart(attempt)
  }

  head(attempt: Attempt, headers: ParsedHeaders): void {
    if (attempt.status !== 200 || !isJson(headers)) return this.#receiver.head(attempt, headers)
    assertPlain(headers)
    this.#renamer = new MemberRenamer(this.#root)
    this.#receiver.head(attempt, withoutValidators(headers))
  }

  data(attempt: Attempt, chunk: Buffer): void {
    this.#pass(attempt, this.#renamer === null ? chunk : this.#renamer.rename(chunk))
  }

  onComplete(attempt: Attempt): T {
    if (this.#renamer !== null) this.#pass(attempt, this.#renamer.end())
    return this.#receiver.onComplete(attempt)
  }

  hasDelivered(): boolean {
    return this.#receiver.hasDelivered()
  }

  onAbort(attempt: Attempt): T | null {
    return this.#receiver.onAbort(attempt)
  }

  onQueued(giveUp: (result: T) => void): void {
    this.#receiver.onQueued?.(giveUp)
  }

  #pass(attempt: Attempt, bytes: Buffer): void {
    if (bytes.length > 0) this.#receiver.data(attempt, bytes)
  }
}

/** Returns the headers of a request whose response is renamed. The response must be complete and not encoded. */
export function renamableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return { ...wholeHeaders(headers), 'accept-encoding': 'identity' }
}

function isJson({ 'content-type': type }: ParsedHeaders): boolean {
  return /^application\/(?:hal\+)?json\b/i.test(String(type ?? ''))
}

/** @throws GatewayError GW_UPSTREAM_INVALID if the body is encoded, although the request accepts no content encoding */
function assertPlain({ 'content-encoding': encoding = 'identity' }: ParsedHeaders): void {
  if (String(encoding).toLowerCase() === 'identity') return
  throw new GatewayError('GW_UPSTREAM_INVALID', {
    message: operatorText`The engine responded with a content encoding that the request did not accept`,
  })
}

/** Removes the headers that identify the bytes of the body, because the client gets other bytes. */
function withoutValidators(headers: ParsedHeaders): ParsedHeaders {
  const { etag: _, 'content-digest': _digest, 'accept-ranges': _ranges, ...others } = headers
  return others
}
