import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { startSandbox } from '../../../sandbox/sandbox.ts'
import { until } from '../../support/cache-harness.ts'
import { authorizationOf, BASE } from '../../support/open-gateway.ts'
import { problemsIn } from '../../support/config-file.ts'
import { USERS } from '../../support/people.ts'
import { startReloadable } from '../../support/reloadable.ts'
import type { Running } from '../../support/start.ts'

const sandbox = await startSandbox()
t.teardown(() => sandbox.close())

/** The status of a definition that the caller may not read. */
const HIDDEN = 404

const lineOf = (user: string) => {
  const { passwordHash = '' } = USERS.find(({ id }) => id === user) ?? {}
  return `${user}:${passwordHash.replace('$2b$', '$2y$')}\n`
}

async function open(t: Test, identity: object = {}) {
  const settings = {
    engines: { default: { nodes: [sandbox.base] } },
    identity: { source: 'file', file: 'users.yaml' },
  }
  const gateway = await startReloadable(t, settings)
  const write = async (name: string, text: string) => {
    const file = join(dirname(gateway.file), name)
    await writeFile(`${file}.new`, text)
    await rename(`${file}.new`, file)
  }
  await write('htpasswd', lineOf('demo'))
  await write(
    'groups.yaml',
    'users: [{ id: demo, groups: [camunda-admin] }, { id: mary, groups: [camunda-admin] }]\n',
  )
  const reloaded = await gateway.reload({
    ...settings,
    identity: { source: 'htpasswd', file: 'htpasswd', remember: '1h', ...identity },
  })
  t.equal(reloaded.status, 200, reloaded.text)
  return { ...gateway, write, status: (user: string) => statusOf(gateway.running, user) }
}

async function statusOf({ address }: Running, user: string): Promise<number> {
  const path = `${address}${BASE}/process-definition/key/review`
  const response = await fetch(path, { headers: { authorization: authorizationOf(user) } })
  await response.arrayBuffer()
  return response.status
}

t.test('a user in an htpasswd file has the groups of the groups file', async (t) => {
  const { status } = await open(t, { groupsFile: 'groups.yaml' })
  t.equal(await status('demo'), 200, 'the group has the record')
  t.equal(await status('mary'), 401, 'a user without a password cannot log in')
})

t.test('without a groups file, users have no groups', async (t) => {
  const { status } = await open(t)
  t.equal(await status('demo'), HIDDEN)
})

t.test('a change of the htpasswd file and of the groups file applies to remembered users', async (t) => {
  const { status, write } = await open(t, { groupsFile: 'groups.yaml' })
  t.equal(await status('demo'), 200)
  await write('htpasswd', lineOf('demo') + lineOf('mary'))
  t.ok(await until(async () => (await status('mary')) === 200), 'a new user can log in')
  await write('groups.yaml', 'users: []\n')
  t.ok(await until(async () => (await status('demo')) === HIDDEN), 'a group that is removed grants nothing')
  await write('htpasswd', lineOf('mary'))
  t.ok(await until(async () => (await status('demo')) === 401), 'a user that is removed cannot log in')
})

t.test('an invalid htpasswd file changes nothing, and the log names the line', async (t) => {
  const { status, write, log } = await open(t, { groupsFile: 'groups.yaml' })
  await write('htpasswd', 'demo:hunter2\n')
  const lines = () => log.filter(({ problems }) => problems !== undefined)
  t.ok(await until(() => lines().length > 0))
  t.match(lines(), [{ problems: [/^line 1: the password is not a bcrypt hash/] }])
  t.notMatch(JSON.stringify(log), 'hunter2')
  t.equal(await status('demo'), 200)
})

t.test('without the groups file, users are refused after staleAfter', async (t) => {
  const { status, file } = await open(t, { groupsFile: 'groups.yaml', staleAfter: '0s', remember: '0s' })
  await rm(join(dirname(file), 'groups.yaml'))
  t.ok(await until(async () => (await status('demo')) === 503, 20_000))
})

t.test('a groups file that is missing is a problem of its key', async (t) => {
  const { file } = await open(t)
  const problems = problemsIn(t, {
    version: 1,
    engines: { default: { nodes: [sandbox.base] } },
    identity: { source: 'htpasswd', groupsFile: 'x' },
    authorization: { records: { source: 'file', file } },
  })
  t.same(problems, ['identity.file: is missing'])
})
