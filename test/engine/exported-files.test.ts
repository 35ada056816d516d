import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import bcrypt from 'bcrypt'
import { pino } from 'pino'
import { type Test, test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { recordKeyOf, recordsOf } from '../../src/files/records-file.ts'
import { GLOBAL, GRANT, REVOKE, type StoredRecord } from '../../src/operations/authorization-record.ts'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { createAdmin, rowsOf } from '../differential/admin.ts'
import { type Ask, basicOf, createClient } from '../differential/http.ts'
import { Random } from '../differential/random.ts'
import { javaSkip } from '../support/requirements.ts'
import { runInProcess } from '../support/run-command.ts'
import { start } from '../support/start.ts'
import { freePort } from '../support/free-port.ts'
import { startEngine } from './engine.ts'

const PASSWORD = 'secret'
const USERS = ['anna', 'ben', 'carl', 'dora', 'Emil', 'FRIDA', 'g7', 'hanna']
const GROUPS = ['clerks', 'staff', 'Auditors', 'empty']
const TENANTS = ['acme', 'globex', 'nobody']
/** Ids that need care in JSON, YAML, paths or a terminal. */
const IDS = [
  '*',
  'x',
  'a/b',
  'ü%2F?&',
  `"q" 'r'`,
  '日本 語',
  '😀',
  '\\n',
  '# no: comment',
  'a\u00a0b',
  'a\u2028b',
  '${HOME}',
]
const CHECKS = 150
const SEED = 31

for (const family of ['camunda-7.24.0', 'operaton'] as const)
  void test(`the content of ${family} is exported, decides in the same way, and is imported unchanged`, {
    skip: javaSkip,
    timeout: 900_000,
  }, async (t) => {
    const folder = t.testdir()
    const file = `${join(folder, 'engine')};AUTO_SERVER=TRUE;AUTO_SERVER_PORT=${await freePort()}`
    const db = `jdbc:h2:file:${file};OPTIMIZE_REUSE_RESULTS=0`
    const bare = await startEngine({ family, db })
    t.teardown(() => bare.stop())
    const secured = await startEngine({ family, db, secured: true })
    t.teardown(() => secured.stop())
    const random = new Random(SEED)
    await fill(t, secured.base, random)

    const passwordFile = join(folder, 'password')
    await writeFile(passwordFile, 'demo\n')
    const account = ['--user', 'demo', '--password-file', passwordFile]
    const exported = join(folder, 'exported')
    const first = await runInProcess([
      'export',
      '--url',
      secured.base,
      ...account,
      '--out',
      exported,
      '--page-size',
      '7',
      '--format',
      'json',
    ])
    t.equal(first.code, 0, first.err.trim())
    t.match(omissionsOf(first.out), {
      'groups without members': ['empty'],
      'tenants without members': ['nobody'],
      'groups that are members of a tenant: the file names the tenant at each user of the group instead': [
        'staff in acme',
      ],
      'records without a user, group or resource id, or of an unknown resource type': [
        'grant user anna TASK (no id) READ',
      ],
    })
    const paths = [join(exported, 'groups.yaml'), join(exported, 'authorizations.json')]
    for (const path of paths) t.equal((await stat(path)).mode & 0o777, 0o600)

    const gateway = await startGateway(t, exported, bare.base)
    await compareDecisions(t, [secured.base, gateway], random)

    const empty = await startEngine({ family })
    t.teardown(() => empty.stop())
    await createUsers(t, empty.base)
    const [groupsFile = '', recordsFile = ''] = paths
    await createWithoutPermissions(t, empty.base, await readFile(recordsFile, 'utf8'))
    const importing = ['import', recordsFile, '--url', empty.base, '--groups', groupsFile, '--remove']
    const imported = await runInProcess(importing)
    t.equal(imported.code, 0, imported.out.trim())
    t.match(imported.out, /^change {2}global /m)
    t.match(imported.out, /^change {2}revoke /m)
    const again = await runInProcess([...importing, '--dry-run'])
    t.equal(again.out, '0 changes would be sent; nothing was sent\n')
    const second = join(folder, 'second')
    t.equal((await runInProcess(['export', '--url', empty.base, '--out', second])).code, 0)
    for (const name of ['groups.yaml', 'authorizations.json'])
      t.equal(await readFile(join(second, name), 'utf8'), await readFile(join(exported, name), 'utf8'), name)

    // An account that does not see everything would export less than the engine has.
    await writeFile(passwordFile, PASSWORD)
    const hanna = ['--user', 'hanna', '--password-file', passwordFile]
    const partial = await runInProcess([
      'export',
      '--url',
      secured.base,
      ...hanna,
      '--out',
      join(folder, 'x'),
    ])
    t.match(partial, { code: 2, err: /the account may not read every Authorization/ })
  })

function omissionsOf(text: string): Readonly<Record<string, unknown>> {
  const { omissions } = JSON.parse(text)
  return Object.fromEntries(rowsOf(omissions).map(({ what, items }) => [String(what), items]))
}

function adminAt(t: Test, base: string) {
  const client = createClient(base)
  t.teardown(() => client.close())
  return createAdmin(client)
}

async function createUsers(t: Test, base: string): Promise<void> {
  const admin = adminAt(t, base)
  for (const id of USERS)
    await admin.call('POST', '/user/create', {
      profile: { id, firstName: 'F', lastName: id },
      credentials: { password: PASSWORD },
    })
}

/** Creates a record of each type as in the file, but without permissions: the import must change them. */
async function createWithoutPermissions(t: Test, base: string, file: string): Promise<void> {
  const admin = adminAt(t, base)
  for (const type of [GLOBAL, GRANT, REVOKE]) {
    const record = recordsOf(file).find((one) => one.type === type && one.permissions.length > 0)
    t.not(record, undefined)
    await admin.call('POST', '/authorization/create', { ...record, permissions: [] })
  }
}

/** Creates users, groups, tenants and records of all resource types in a secured engine. */
async function fill(t: Test, base: string, random: Random): Promise<void> {
  await createUsers(t, base)
  const admin = adminAt(t, base)
  for (const id of GROUPS) await admin.call('POST', '/group/create', { id, name: id, type: 'T' })
  for (const id of TENANTS) await admin.call('POST', '/tenant/create', { id, name: id })
  await admin.call('PUT', '/tenant/acme/group-members/staff', {})
  for (const user of USERS) {
    for (const group of random.sample(GROUPS.slice(0, 3), random.below(3)))
      await admin.call('PUT', `/group/${group}/members/${user}`, {})
    if (random.chance(0.3)) await admin.call('PUT', `/tenant/globex/user-members/${user}`, {})
  }
  await admin.call('PUT', '/group/staff/members/carl', {}).catch(() => undefined)
  const records = new Map(generatedRecords(random).map((record) => [recordKeyOf(record), record]))
  for (const record of records.values()) await admin.call('POST', '/authorization/create', record)
}

function generatedRecords(random: Random): readonly StoredRecord[] {
  const resources = Object.values(RESOURCES)
  const generated = Array.from({ length: 300 }, (_, at) => {
    const { id: resourceType, permissions } = resources[at % resources.length] ?? RESOURCES.TASK
    const names = Object.keys(permissions)
    const given = random.chance(0.2) ? ['ALL'] : random.sample(names, random.below(names.length + 1))
    const type = random.pick<StoredRecord['type']>([GLOBAL, GRANT, GRANT, GRANT, REVOKE])
    const subject = random.chance(0.5)
      ? { userId: random.pick([...USERS, ...(type === REVOKE ? [] : ['*']), 'o:dd "1"']) }
      : { groupId: random.pick([...GROUPS, 'no/such group']) }
    return {
      type,
      ...(type === GLOBAL ? { userId: '*' } : subject),
      resourceType,
      resourceId: random.pick(IDS),
      permissions: given,
    }
  })
  return [
    ...generated,
    { type: GRANT, userId: 'anna', resourceType: 7, resourceId: null, permissions: ['READ'] },
  ]
}

/** Starts the gateway with the exported files, and an htpasswd file for the passwords. */
async function startGateway(t: Test, exported: string, engine: string): Promise<string> {
  const lines = USERS.map((user) => `${user}:${bcrypt.hashSync(PASSWORD, 4).replace('$2b$', '$2y$')}\n`)
  await writeFile(join(exported, 'htpasswd'), lines.join(''))
  const file = join(exported, 'gateway.yaml')
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    engines: { default: { nodes: [engine] } },
    identity: { source: 'htpasswd', file: 'htpasswd', groupsFile: 'groups.yaml' },
    authorization: { records: { source: 'file', file: 'authorizations.json' } },
  }
  await writeFile(file, JSON.stringify(config))
  const running = await start(loadConfig(file), pino({ level: 'silent' }))
  t.teardown(() => running.drain())
  return `${running.address}/engine-rest`
}

const LISTS = [
  '/user',
  '/group',
  '/tenant',
  '/authorization',
  '/user/count',
  '/authorization/count',
  '/task',
  '/process-definition',
  '/deployment',
  '/filter',
  '/history/user-operation',
  '/batch',
]

/** Sends generated requests to both, and compares the decisions that the responses show. */
async function compareDecisions(t: Test, bases: readonly string[], random: Random): Promise<void> {
  const clients = bases.map((base) => createClient(base))
  t.teardown(() => Promise.all(clients.map((client) => client.close())))
  const different: unknown[] = []
  const decisions = new Set<string>()
  for (const user of USERS)
    for (const ask of asksOf(random)) {
      const [engine, gateway] = await Promise.all(
        clients.map(async (client) => {
          const { status, bytes } = await client.send(ask, basicOf(user, PASSWORD))
          return `${status} ${status === 200 ? sorted(bytes.toString('utf8')) : ''}`
        }),
      )
      decisions.add(engine ?? '')
      if (engine !== gateway) different.push({ user, ask, engine, gateway })
    }
  t.same(different, [])
  t.ok(decisions.size > 20, 'the requests lead to different decisions')
}

function sorted(text: string): string {
  const value: unknown = JSON.parse(text)
  return JSON.stringify(Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value)
}

function asksOf(random: Random): readonly Ask[] {
  const resources = Object.entries(RESOURCES)
  const checks = Array.from({ length: CHECKS }, () => {
    const [name, { id, permissions }] = random.pick(resources)
    const query = new URLSearchParams({
      permissionName: random.pick(Object.keys(permissions)),
      resourceName: name,
      resourceType: String(id),
      resourceId: random.pick(IDS),
    })
    return `/authorization/check?${query}`
  })
  const reads = [
    ...USERS.map((user) => `/user/${user}/profile`),
    ...GROUPS.map((group) => `/group/${group}`),
    ...TENANTS.map((tenant) => `/tenant/${tenant}`),
  ]
  const writes: readonly Ask[] = [
    { method: 'DELETE', path: '/group/nowhere' },
    { method: 'POST', path: '/history/cleanup', body: {} },
    { method: 'DELETE', path: '/metrics/task-worker' },
  ]
  return [...[...checks, ...LISTS, ...reads].map((path) => ({ method: 'GET', path }) as const), ...writes]
}
