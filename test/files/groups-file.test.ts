import t from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { membershipsOf, withMemberships } from '../../src/files/groups-file.ts'
import { htpasswdUsersOf } from '../../src/files/htpasswd-file.ts'

const HASH = '$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy'
const mary = { id: 'mary', groups: ['clerks'], tenants: ['acme'] }

t.test('a groups file contains users without passwords', async (t) => {
  t.same(membershipsOf('users:\n  - { id: mary, groups: [clerks], tenants: [acme] }\n  - { id: ben }\n'), [
    mary,
    { id: 'ben', groups: [], tenants: [] },
  ])
  const refused = (text: string) => t.throws(() => membershipsOf(text), ConfigError)
  refused(`users: [{ id: mary, passwordHash: "${HASH}" }]`)
  refused('users: [{ id: mary }, { id: mary }]')
  refused('users: [{ id: "*" }]')
  refused('users: [{ id: mary, group: [x] }]')
})

t.test(
  'users have the groups and tenants of the other file, and none if it does not contain them',
  async (t) => {
    const users = withMemberships(
      htpasswdUsersOf(`mary:${HASH}\nben:${HASH}`),
      new Map([mary, { ...mary, id: 'nora' }].map((one) => [one.id, one])),
    )
    t.equal(users.size, 2)
    t.same(users.all, [
      { ...mary, passwordHash: HASH },
      { id: 'ben', passwordHash: HASH, groups: [], tenants: [] },
    ])
    t.equal(users.find('mary'), users.find('mary'), 'it is the same object each time')
    t.equal(users.find('nora'), undefined, 'a user without a password does not exist')
  },
)
