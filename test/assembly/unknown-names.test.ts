import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build } from '../../src/assembly/build.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'

const HASH = '$2y$04$abcdefghijklmnopqrstuuGkR8xOyBQoXzfE0nGZ6T5bKQ3m0vJqW'
const USERS = { users: [{ id: 'mary', passwordHash: HASH, groups: ['managers'] }] }
const ISSUER = {
  issuer: 'https://login.example',
  name: 'login',
  audience: ['gateway'],
  groupPrefix: 'login:',
  userPrefix: 'login:',
}

interface Files {
  readonly users?: unknown
  readonly records?: readonly unknown[]
  readonly htpasswd?: string
  readonly groups?: unknown
}

/** Returns the warnings of a configuration with these files. */
async function warningsFor(
  t: Test,
  settings: Readonly<Record<string, unknown>>,
  { users = USERS, records = [], htpasswd = '', groups = { users: [] } }: Files = {},
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-names-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content)
  write('users.yaml', JSON.stringify(users))
  write('records.yaml', JSON.stringify({ authorizations: records }))
  write('htpasswd', htpasswd)
  write('groups.yaml', JSON.stringify(groups))
  const { engine = {}, authorization = {}, ...others } = settings
  write(
    'gateway.yaml',
    JSON.stringify({
      version: 1,
      engines: { default: { nodes: ['http://127.0.0.1:1/engine-rest'], ...Object(engine) } },
      identity: { source: 'file', file: 'users.yaml' },
      authorization: {
        adminGroups: [],
        records: { source: 'file', file: 'records.yaml' },
        ...Object(authorization),
      },
      ...others,
    }),
  )
  const { questions, close } = await build({
    config: loadConfig(join(folder, 'gateway.yaml')),
    log: createLogger({ level: 'silent' }),
    version: 'test',
  })
  await close()
  return questions.warnings
}

const GROUPED = {
  nodes: [
    { url: 'http://127.0.0.1:1/engine-rest', group: 'old' },
    { url: 'http://127.0.0.1:2/engine-rest', group: 'new' },
  ],
}

function grant(subject: object): object {
  return { type: 1, permissions: ['READ'], resourceType: 7, resourceId: '*', ...subject }
}

t.test('a list with the names of known users and groups causes no warning', async (t) => {
  const settings = {
    authorization: { adminGroups: ['managers'], adminUsers: ['mary'] },
    limits: { ceilings: [{ users: ['mary'], groups: ['managers'], ceiling: 'read' }] },
    engine: { ...GROUPED, shift: { to: 'new', callers: ['mary'] } },
  }
  const records = [
    grant({ userId: 'mary' }),
    grant({ groupId: 'managers' }),
    { ...grant({ userId: '*' }), type: 0 },
  ]
  t.same(await warningsFor(t, settings, { records }), [])
})

t.test('each list whose names are no known users or groups causes a warning', async (t) => {
  const cases: readonly (readonly [RegExp, Readonly<Record<string, unknown>>, Files?])[] = [
    [
      /^authorization\.adminGroups: .*groups without a member.*: bosses$/,
      { authorization: { adminGroups: ['bosses'] } },
    ],
    [/^authorization\.adminUsers: .*no users.*: ben$/, { authorization: { adminUsers: ['ben'] } }],
    [
      /^limits\.ceilings\[0\]\.users: .*: ben$/,
      { limits: { ceilings: [{ users: ['ben'], ceiling: 'read' }] } },
    ],
    [
      /^limits\.ceilings\[0\]\.groups: .*: bosses$/,
      { limits: { ceilings: [{ groups: ['bosses'], ceiling: 'read' }] } },
    ],
    [
      /^engines\.default\.shift\.callers: .*: ben$/,
      { engine: { ...GROUPED, shift: { to: 'new', callers: ['ben'] } } },
    ],
    [
      /^limits\.rate\.users: .*: ben$/,
      { limits: { rate: { requests: 9, per: '1s', users: { ben: 'unlimited' } } } },
    ],
    [/^limits\.maxResults\.users: .*: ben$/, { limits: { maxResults: { items: 9, users: { ben: 8 } } } }],
    [
      /^limits\.maxResults\.groups: .*: bosses$/,
      { limits: { maxResults: { items: 9, groups: { bosses: 8 } } } },
    ],
    [
      /^engines\.default\.rate\.users: .*: ben$/,
      { engine: { rate: { requests: 9, per: '1s', users: { ben: 'unlimited' } } } },
    ],
    [/^authorization\.records: users of records: .*: ben$/, {}, { records: [grant({ userId: 'ben' })] }],
    [
      /^authorization\.records: groups of records: .*: bosses$/,
      {},
      { records: [grant({ groupId: 'bosses' })] },
    ],
    [
      /^authorization\.records: a record of type 1 or 2 for \*.*GLOBAL/,
      {},
      { records: [grant({ userId: '*' })] },
    ],
    [/^identity\.file: contains no user/, {}, { users: { users: [] } }],
    [/^identity\.file: contains no user/, { identity: { source: 'htpasswd', file: 'htpasswd' } }],
    [
      /^identity\.groupsFile: .*htpasswd file.*: ben$/,
      { identity: { source: 'htpasswd', file: 'htpasswd', groupsFile: 'groups.yaml' } },
      { htpasswd: `mary:${HASH}\n`, groups: { users: [{ id: 'ben', groups: ['managers'] }] } },
    ],
  ]
  for (const [expected, settings, files] of cases) {
    const warnings = await warningsFor(t, settings, files)
    t.equal(warnings.length, 1, `${expected.source}: ${warnings.join('; ')}`)
    t.match(warnings[0], expected)
  }
})

t.test('users of an issuer or of an engine are not known, so their names cause no warning', async (t) => {
  const lists = {
    authorization: { adminGroups: ['login:bosses'], adminUsers: ['login:ben'] },
    limits: { ceilings: [{ users: ['login:ben'], groups: ['login:bosses'], ceiling: 'read' }] },
  }
  const identity = { source: 'file', file: 'users.yaml', tokens: { issuers: [ISSUER] } }
  const records = [grant({ userId: 'login:ben' }), grant({ groupId: 'login:bosses' })]
  t.same(await warningsFor(t, { ...lists, identity }, { records }), [])
  t.same(await warningsFor(t, { ...lists, identity: { source: 'engine' } }, { records }), [])
})

t.test('a list of several engines is reported only if none of them knows the name', async (t) => {
  const identity = { source: 'htpasswd', file: 'htpasswd' }
  const warnings = (users: readonly string[]) =>
    warningsFor(
      t,
      {
        authorization: { adminUsers: users },
        limits: { ceilings: [{ users, ceiling: 'read' }] },
        engines: {
          default: { nodes: ['http://127.0.0.1:1/engine-rest'] },
          other: { nodes: ['http://127.0.0.1:2/engine-rest'], identity },
        },
      },
      { htpasswd: `ben:${HASH}\n` },
    )
  t.same(await warnings(['mary', 'ben']), [])
  t.match(await warnings(['mary', 'ben', 'eve']), [/adminUsers: .*: eve$/, /ceilings\[0\]\.users: .*: eve$/])
})

t.test('the default admin group needs no member', async (t) => {
  t.same(await warningsFor(t, { authorization: { adminGroups: ['camunda-admin'] } }), [])
})

t.test('a warning names at most three names', async (t) => {
  const adminUsers = ['a', 'b', 'c', 'd', 'e']
  t.match(await warningsFor(t, { authorization: { adminUsers } }), [/: a, b, c and 2 more$/])
})
