/**
 * Operations that web clients ask before anybody has logged in, by the names under which the configuration opens them:
 * `engines` which engines there are.
 * `verify` whether a user has a password.
 * `passwordPolicy` what a new password must be like.
 */
export const OPEN_NAMES = ['engines', 'verify', 'passwordPolicy'] as const

export type OpenName = (typeof OPEN_NAMES)[number]
