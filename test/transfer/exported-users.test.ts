import t from 'tap'
import { membershipsOf } from '../../src/files/groups-file.ts'
import type { EngineEntity, EngineIdentities } from '../../src/transfer/engine-content.ts'
import { exportUsers } from '../../src/transfer/exported-users.ts'

const entity = (id: string, details: EngineEntity['details'] = {}): EngineEntity => ({ id, details })

const NONE: EngineIdentities = { users: [], groups: [], tenants: [] }

t.test(
  'a user has the groups, and the tenants of the user and of these groups, in a fixed order',
  async (t) => {
    const { text, omissions } = exportUsers({
      users: [entity('mary'), entity('ben')],
      groups: [
        { ...entity('staff'), members: ['mary', 'ben'] },
        { ...entity('clerks'), members: ['mary'] },
      ],
      tenants: [
        { ...entity('globex'), users: ['mary'], groups: ['clerks'] },
        { ...entity('acme'), users: [], groups: ['staff'] },
      ],
    })
    t.equal(
      text,
      `users:
  - { id: "ben", groups: ["staff"], tenants: ["acme"] }
  - { id: "mary", groups: ["clerks", "staff"], tenants: ["acme", "globex"] }
`,
    )
    t.same(
      omissions.map(({ items }) => items),
      [['clerks in globex', 'staff in acme']],
    )
  },
)

t.test('names with any characters are read as they were written', async (t) => {
  const names = [
    '# a',
    'a: b',
    `"'`,
    '\\',
    '\u2028',
    '\u0085',
    '\ufeff',
    '😀',
    'ü',
    '${x}',
    ' ',
    '*',
    '- a',
    'null',
  ]
  const users = names.map((name) => entity(`user ${name.replace(/[:\u0085]/g, '')} ${name.codePointAt(0)}`))
  const groups = names.map((name) => ({ ...entity(name), members: users.map(({ id }) => id) }))
  const { text, parsed } = exportUsers({ ...NONE, users, groups })
  t.equal(parsed(text), text)
  t.same(
    membershipsOf(text).map(({ id }) => id),
    users.map(({ id }) => id).sort(),
  )
  for (const user of membershipsOf(text)) t.same(user.groups, names.toSorted())
})

t.test('everything that a file of users cannot contain is reported', async (t) => {
  const { text, omissions } = exportUsers({
    users: [entity('a:b'), entity('*'), entity('mary', { firstName: 'M', email: 'm@x' })],
    groups: [
      { ...entity('clerks', { type: 'WORKFLOW' }), members: ['ghost'] },
      { ...entity('empty'), members: [] },
    ],
    tenants: [{ ...entity('acme', { name: 'Acme' }), users: [], groups: [] }],
  })
  t.same(membershipsOf(text), [{ id: 'mary', groups: [], tenants: [] }])
  t.same(
    omissions.map(({ what, items }) => `${what}: ${items.join()}`),
    [
      'users whose id has a colon or a control character, or is *: *,a:b',
      'members of groups or tenants that are not in the list of users: ghost',
      'names and e-mail addresses of users: mary',
      'names and types of groups: clerks',
      'names of tenants: acme',
      'groups without members: empty',
      'tenants without members: acme',
    ],
  )
})

t.test('an engine without users gives a file without users', async (t) => {
  t.same(membershipsOf(exportUsers(NONE).text), [])
})
