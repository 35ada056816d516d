import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startIdentityEngine } from '../support/identity-engine.ts'
import { runInProcess } from '../support/run-command.ts'

const record = (userId: string, permissions: readonly string[] = ['READ']) => ({
  type: 1,
  permissions,
  userId,
  resourceType: 7,
  resourceId: '*',
})

async function open(t: Test) {
  const engine = await startIdentityEngine(t, {
    records: [
      { ...record('mary'), id: 'm' },
      { ...record('old'), id: 'o' },
    ],
    users: ['mary'],
    groups: {},
    tenants: {},
  })
  const file = join(t.testdir(), 'authorizations.json')
  await writeFile(file, JSON.stringify([record('mary', ['ALL']), record('ben'), record('carl')]))
  const run = (...argv: readonly string[]) =>
    runInProcess(['import', file, '--url', `${engine.url}/engine-rest`, ...argv])
  const writes = () =>
    engine.seen.filter(({ method }) => method !== 'GET').map(({ method, url }) => `${method} ${url}`)
  return { engine, file, run, writes }
}

const WRITES = [
  'PUT /engine-rest/authorization/m',
  'POST /engine-rest/authorization/create',
  'POST /engine-rest/authorization/create',
]

t.test('import creates missing records and changes permissions, and keeps other records', async (t) => {
  const { engine, run, writes } = await open(t)
  const { code, out, err } = await run()
  t.equal(code, 0, err)
  t.equal(
    out,
    `change  grant user mary TASK * ALL (before: READ)
create  grant user ben TASK * READ
create  grant user carl TASK * READ
3 of 3 changes done
`,
  )
  t.same(writes(), WRITES)
  t.same(
    engine.content.records.map(({ userId, permissions }) => [userId, permissions]),
    [
      ['mary', ['ALL']],
      ['old', ['READ']],
      ['ben', ['READ']],
      ['carl', ['READ']],
    ],
  )
  t.equal((await run()).out, '0 of 0 changes done\n')
})

t.test('--dry-run sends no write', async (t) => {
  const { run, writes } = await open(t)
  const { code, out } = await run('--dry-run', '--remove')
  t.equal(code, 0)
  t.match(out, /^remove {2}grant user old TASK \* READ$/m)
  t.match(out, /^4 changes would be sent; nothing was sent$/m)
  t.same(writes(), [])
})

t.test('--remove removes records that the file does not contain, after all other changes', async (t) => {
  const { engine, run, writes } = await open(t)
  t.equal((await run('--remove')).code, 0)
  t.same(writes(), [...WRITES, 'DELETE /engine-rest/authorization/o'])
  t.notOk(engine.content.records.some(({ userId }) => userId === 'old'))
})

t.test('an import that fails reports what was done, what failed and what was not sent', async (t) => {
  const { engine, run, writes } = await open(t)
  engine.before = ({ method, body }, response) => {
    if (method !== 'POST' || !body.includes('ben')) return false
    response.writeHead(403).end('{"message":"may not create"}')
    return true
  }
  const { code, out } = await run()
  t.equal(code, 1)
  t.equal(
    out,
    `change  grant user mary TASK * ALL (before: READ)
failed: create  grant user ben TASK * READ
The engine has refused it: 403 may not create
not sent: create  grant user carl TASK * READ
1 of 3 changes done
`,
  )
  t.same(writes(), WRITES.slice(0, 2))
})

t.test('a write without a response is sent once, and its outcome is unknown', async (t) => {
  const { engine, run, writes } = await open(t)
  engine.before = ({ method }, response) => {
    if (method !== 'POST') return false
    response.destroy()
    return true
  }
  const { code, out } = await run('--format', 'json')
  t.equal(code, 1)
  t.match(JSON.parse(out), {
    dryRun: false,
    steps: [{ state: 'done' }, { state: 'unknown' }, { state: 'not sent' }],
  })
  t.same(writes(), WRITES.slice(0, 2))
})

t.test(
  '--groups creates groups, tenants and memberships, and names users that must be created first',
  async (t) => {
    const { engine, file, run } = await open(t)
    const groups = `${file}.groups`
    await writeFile(
      groups,
      'users: [{ id: mary, groups: [clerks], tenants: [acme] }, { id: ben, groups: [x] }]\n',
    )
    const { code, out } = await run('--groups', groups)
    t.equal(code, 1)
    t.match(engine.content, { groups: { clerks: ['mary'] }, tenants: { acme: ['mary'] } })
    t.match(
      out,
      /^not imported: user ben, which the engine does not have: create the user with a password first$/m,
    )
    t.match(out, /^7 of 7 changes done$/m)
  },
)

t.test('after a membership that the engine refuses, no record is sent', async (t) => {
  const { engine, file, run, writes } = await open(t)
  const groups = `${file}.groups`
  await writeFile(groups, 'users: [{ id: mary, groups: [clerks] }]\n')
  engine.before = ({ url }, response) => {
    if (!url.includes('/members/')) return false
    response.writeHead(500).end()
    return true
  }
  const { code, out } = await run('--groups', groups)
  t.equal(code, 1)
  t.match(out, /^failed: create {2}membership of user mary in group clerks$/m)
  t.match(out, /^not sent: create {2}grant user ben TASK \* READ$/m)
  t.match(out, /^1 of 5 changes done$/m)
  t.equal(writes().length, 2)
})

t.test('changes that were sent are reported if the records cannot be read afterwards', async (t) => {
  const { engine, file, run } = await open(t)
  const groups = `${file}.groups`
  await writeFile(groups, 'users: [{ id: mary, groups: [clerks] }]\n')
  engine.before = ({ url }, response) => {
    if (!url.includes('/authorization?')) return false
    response.writeHead(500).end()
    return true
  }
  const { code, out } = await run('--groups', groups, '--format', 'json')
  t.equal(code, 1)
  t.match(JSON.parse(out), {
    steps: [{ state: 'done' }, { state: 'done' }],
    reason: /^the records were not read: .* status 500$/,
  })
  t.equal((await run()).code, 2, 'without changes, it is an error')
})

t.test('an invalid file sends nothing', async (t) => {
  const { engine, file, run } = await open(t)
  await writeFile(file, '[{"type":9}]')
  t.match(await run(), { code: 2, err: /authorizations\.json has/ })
  t.equal(engine.seen.length, 0)
})
