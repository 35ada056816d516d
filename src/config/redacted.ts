import { createHmac, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { isMapping } from './mapping.ts'

/** The text that replaces a secret. */
export const SECRET = '(secret)'

/** Keys whose value is a secret. */
const SECRET_KEY = /(?:password|passwd|secret|token|keys?)$/i
/** A key whose members are all secrets, whatever their names: a header may be `authorization`. */
const SECRET_MEMBERS = 'headers'
/** A URL. The user, the password and the query are secrets; some drivers accept a password in the query. */
const URL_SECRET = /^([a-z][a-z\d+.-]*:\/\/)(?:([^/?#@]*)@)?([^?#]*)(?:\?.*)?$/is

/** Returns a value of the configuration as JSON, with its secrets replaced. Keys are kept. */
export function redactedOf(value: unknown, key = ''): unknown {
  if (value === null || value === undefined) return null
  if (Array.isArray(value))
    return SECRET_KEY.test(key) ? value.map(() => SECRET) : value.map((item) => redactedOf(item))
  if (isMapping(value))
    return Object.fromEntries(
      membersOf(value, key).map(({ name, member, as }) => [name, redactedOf(member, as)]),
    )
  if (typeof value !== 'string') return value
  return SECRET_KEY.test(key) ? SECRET : withoutUrlSecret(value)
}

/** Returns the members of a mapping. `as` is the key that decides whether a member is a secret. */
function membersOf(value: Readonly<Record<string, unknown>>, key: string) {
  return Object.entries(value).map(([name, member]) => ({
    name,
    member,
    as: key === SECRET_MEMBERS && !isMapping(member) ? 'secret' : name,
  }))
}

function withoutUrlSecret(text: string): string {
  const [, scheme, user, rest = ''] = URL_SECRET.exec(text) ?? []
  if (scheme === undefined || (user === undefined && !text.includes('?'))) return text
  return `${scheme}${user === undefined ? '' : `${SECRET}@`}${rest}${text.includes('?') ? `?${SECRET}` : ''}`
}

/** The key and the salt of digests. Without both, digests reveal nothing about a secret. */
export interface DigestKey {
  /** A key that both sides know. */
  readonly key: string
  /** Random, in hexadecimal digits. */
  readonly salt: string
}

/** Parameters of scrypt. Each digest takes about 20 ms, so that a secret chosen by a person cannot be guessed from it. */
const SCRYPT = { N: 2 ** 13, r: 8, p: 1 }
const DIGEST_BYTES = 24

/**
 * Returns a keyed digest of each secret, by its path. Equal digests mean equal secrets. Secrets are strings and lists of strings
 * that `redactedOf` does not show completely.
 */
export async function secretDigestsOf(
  config: unknown,
  { key, salt }: DigestKey,
): Promise<Readonly<Record<string, string>>> {
  const digests: Record<string, string> = {}
  for (const [path, text] of secretsIn(config, '', '')) {
    const keyed = createHmac('sha256', key).update(`${path}\0${text}`).digest()
    const derived = await derive(keyed, Buffer.from(salt, 'hex'))
    digests[path] = derived.toString('base64url')
  }
  return digests
}

const derive = (password: Buffer, salt: Buffer) => deriveBytes(password, salt, DIGEST_BYTES, SCRYPT)
const deriveBytes: (p: Buffer, s: Buffer, bytes: number, options: typeof SCRYPT) => Promise<Buffer> =
  promisify(scrypt)

function secretsIn(value: unknown, path: string, key: string): readonly (readonly [string, string])[] {
  if (isMapping(value))
    return membersOf(value, key).flatMap(({ name, member, as }) =>
      secretsIn(member, path === '' ? name : `${path}.${name}`, as),
    )
  if (Array.isArray(value) && !SECRET_KEY.test(key))
    return value.flatMap((item, at) => secretsIn(item, `${path}[${at}]`, ''))
  const isShown = JSON.stringify(redactedOf(value, key)) === JSON.stringify(value ?? null)
  return isShown || (Array.isArray(value) && value.length === 0) ? [] : [[path, JSON.stringify(value)]]
}
