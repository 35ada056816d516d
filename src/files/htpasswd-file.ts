import { ConfigError } from '../config/config.ts'
import { BCRYPT, createUsers, dummyOf, USER_ID, type User, type Users } from './users-file.ts'

/** Maximum size of the file in characters: about 200,000 users. */
const MAX_CHARS = 16 * 1024 ** 2

const NOT_BCRYPT =
  'the password is not a bcrypt hash ($2y$, $2a$ or $2b$): create the line with htpasswd -nB USER'

/**
 * Returns the users in the text of an htpasswd file. They have no groups and no tenants. Empty lines and lines that begin with `#` are
 * ignored, as by the Apache HTTP Server. @throws ConfigError that names every problem by its line, without the content
 */
export function htpasswdUsersOf(text: string, file = 'htpasswd'): Users {
  if (text.length > MAX_CHARS) throw new ConfigError(file, [`is longer than ${MAX_CHARS} characters`])
  const byId = new Map<string, User>()
  const lineOf = new Map<string, number>()
  const problems: string[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const colon = line.indexOf(':')
    const [id, passwordHash] = [line.slice(0, colon), line.slice(colon + 1)]
    const problem = colon === -1 ? 'must be USER:HASH' : problemOf(id, passwordHash, lineOf)
    if (problem !== null) problems.push(`line ${at + 1}: ${problem}`)
    byId.set(id, { id, passwordHash, groups: [], tenants: [] })
    lineOf.set(id, at + 1)
  }
  if (problems.length > 0) throw new ConfigError(file, problems)
  const all = [...byId.values()]
  return createUsers(all, byId, dummyOf(all))
}

function problemOf(id: string, hash: string, lineOf: ReadonlyMap<string, number>): string | null {
  const first = lineOf.get(id)
  if (first !== undefined) return `has the same user as line ${first}`
  if (!USER_ID.test(id)) return 'the user must be a name without control characters, not *'
  return BCRYPT.test(hash) ? null : NOT_BCRYPT
}
