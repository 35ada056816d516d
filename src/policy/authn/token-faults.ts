import { ownText, operatorText, GatewayError } from '../../errors.ts'

/** The longest Authorization header that is parsed. Node accepts 16 KiB of headers in total. */
export const MAX_BEARER_CHARS = 12 * 1024

/** The messages for the caller that explain why a token is refused. No message quotes the token. */
export const TOKEN_FAULTS = {
  malformed: 'The bearer token is not a signed JSON Web Token',
  'too-long': `The Authorization header has more than ${MAX_BEARER_CHARS} characters`,
  header: 'The header of the token contains a member that is not permitted',
  type: 'The type of the token is not accepted',
  algorithm: 'The algorithm of the token is not accepted',
  issuer: 'The issuer of the token is not accepted',
  audience: 'The token is for another audience',
  expiry: 'The token has no expiry time',
  expired: 'The token has expired',
  'not-yet': 'The token is not valid yet',
  key: 'The key of the token is not a key of its issuer',
  signature: 'The signature of the token is not valid',
  user: 'The token contains no valid user',
  distributed: 'The token refers to another source for a claim that the gateway needs',
  missing: 'The token does not contain a required claim',
  groups: 'The groups or tenants of the token are not valid',
  'unknown-user': 'The user of the token is not known',
} as const

export type TokenFault = keyof typeof TOKEN_FAULTS

/**
 * Returns the 401 for a refused token, with the challenge of RFC 6750 section 3.
 * @param realm the engine's name
 * @param chars the length of the `Authorization` header
 */
export function tokenRefusalOf(fault: TokenFault, realm: string, chars: number): GatewayError {
  const fixed = ownText(TOKEN_FAULTS[fault])
  const message = fault === 'too-long' ? operatorText`${fixed}: ${chars}` : fixed
  return new GatewayError('GW_TOKEN_INVALID', {
    message,
    rule: ownText(`token: ${fault}`),
    // Only Bearer is offered. With Basic, a browser would ask its user for a password, although the page uses a token.
    headers: {
      'www-authenticate': `Bearer realm="${realm}", error="invalid_token", error_description="${message}"`,
    },
  })
}
