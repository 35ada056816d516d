import { GatewayError, operatorText } from '../errors.ts'

export const IDEMPOTENCY_KEY = 'idempotency-key'

/** Visible ASCII without a comma, because commas join repeated headers. */
const BARE = /^[!#-+\x2d-~]+$/
/** A string of RFC 9651, as the draft of the Idempotency-Key header requires. */
const QUOTED = /^"((?:[!#-[\]-~]|\\["\\])+)"$/
const MAX_CHARS = 255

/** Returns the client's key. It may be quoted or bare: `"a"` and `a` are equal. @throws GatewayError if it is missing, repeated or invalid */
export function idempotencyKeyOf(rawHeaders: readonly string[]): string {
  const values: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === IDEMPOTENCY_KEY) values.push(rawHeaders[index + 1] ?? '')
  const [value = ''] = values
  const key = BARE.test(value) ? value : QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, '$1')
  if (values.length !== 1 || key === undefined || key.length > MAX_CHARS)
    throw new GatewayError('GW_BAD_HEADER', {
      message: operatorText`Idempotency-Key must be sent once and have 1 to 255 visible ASCII characters`,
    })
  return key
}
