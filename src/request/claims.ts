/** The names of nested members of a token, from the outermost to the innermost. */
export type ClaimPath = readonly string[]

/**
 * The values of claims, by `claimKeyOf`. A claim that the token does not have is missing. `unreadable`: the values are not texts, numbers
 * or booleans, there are too many of them, or the issuer provides them in another place.
 */
export type TokenClaims = ReadonlyMap<string, readonly string[] | 'unreadable'>

/** Returns the key of a claim in `TokenClaims`. */
export function claimKeyOf(path: ClaimPath): string {
  return JSON.stringify(path)
}
