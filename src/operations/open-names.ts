/**
 * Operations that web clients use before a user has logged in. The configuration opens them under these names:
 * - `engines`: lists the engines.
 * - `verify`: verifies the password of a user.
 * - `passwordPolicy`: reads the rules for new passwords.
 */
export const OPEN_NAMES = ['engines', 'verify', 'passwordPolicy'] as const

export type OpenName = (typeof OPEN_NAMES)[number]
