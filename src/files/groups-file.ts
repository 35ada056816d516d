import { z } from 'zod'
import { OF_A_FILE } from '../config/config-problems.ts'
import { parseText, shaped } from './file-problems.ts'
import { membershipShape, repeatedIdProblems, type User, type Users } from './users-file.ts'
import { ConfigError } from '../config/config.ts'

/** The groups and tenants of a user whose password is in another file. */
export type Memberships = Omit<User, 'passwordHash'>

const schema = z.strictObject({ users: z.array(z.strictObject(membershipShape)) }, OF_A_FILE)

/** Returns the users in the text of a file of groups and tenants without passwords. @throws ConfigError that names every problem */
export function membershipsOf(text: string, file = 'groups.yaml'): readonly Memberships[] {
  const { users } = shaped(file, schema, parseText(file, text))
  const problems = repeatedIdProblems(users)
  if (problems.length > 0) throw new ConfigError(file, problems)
  return users
}

/** Returns users with the groups and tenants of another file. A user that the other file does not contain has none. */
export function withMemberships(users: Users, memberships: ReadonlyMap<string, Memberships>): Users {
  // Each user is created once, because credentials are remembered by the user's object.
  const created = new Map<string, User>()
  const find = (id: string): User | undefined => {
    const known = created.get(id)
    const user = known ?? users.find(id)
    if (known !== undefined || user === undefined) return known
    const { groups = [], tenants = [] } = memberships.get(id) ?? {}
    const complete = { ...user, groups, tenants }
    created.set(id, complete)
    return complete
  }
  return {
    size: users.size,
    get all() {
      return users.all.map((user) => find(user.id) ?? user)
    },
    find,
    dummyHash: users.dummyHash,
  }
}
