import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { runInProcess } from '../../support/run-command.ts'
import { type Reloadable, setupsOf, startReloadable, textOf } from '../../support/reloadable.ts'

const { ONE } = setupsOf('http://engine.invalid/engine-rest')
const GOOD = textOf(ONE)

/** Returns the configuration with these members added to its only engine. */
const engine = (members: string): string =>
  GOOD.replace(/"nodes":\[[^\]]*\]/, (nodes) => `${nodes.replaceAll('"', "'")}, ${members}`)
const adding = (line: string): string => GOOD.replace(/\}\s*$/, `, ${line} }\n`)

interface Mistake {
  /** Default: the valid configuration. */
  readonly gateway?: string
  readonly users?: string
  readonly records?: string
  readonly says: RegExp
}

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$hush$hush'

/** Mistakes that put `hush`, a part of a secret, where a key, a name or a path is expected. */
const MISTAKES: Readonly<Record<string, Mistake>> = {
  'a hash without quotes in braces': {
    users: `users: [{ id: mary, passwordHash: ${HASH} }]`,
    says: /users\[0\]: unknown key \(key 4\) that is not shown because it may be part of a value: quote the value \(allowed: /,
  },
  'a password without a space before it': {
    gateway: engine('credentials: { username: gw, password:hush }'),
    says: /engines\.default\.credentials: none, forward, \{ username, password \} or /,
  },
  'a password with a comma': {
    gateway: engine('credentials: { username: gw, password: abc,hush }'),
    says: /engines\.default\.credentials\.\(key 3\): unknown key that is not shown .* quote the value/,
  },
  'a password with a comma and a colon': {
    gateway: engine('credentials: { username: gw, password: "a", x$hush: b }'),
    says: /engines\.default\.credentials\.\(key 3\): unknown key that is not shown/,
  },
  'a header of traces with a comma': {
    gateway: adding('traces: { endpoint: "http://c.invalid", headers: { authorization: Bearer a,hush } }'),
    says: /traces\.headers\.\(key 2\): is empty: text is needed/,
  },
  'a user of rates that is part of a value': {
    gateway: adding('limits: { rate: { requests: 1, per: 1s, users: { mary: unlimited,hush } } }'),
    says: /limits\.rate\.users\.\(key 2\): /,
  },
  'a name of an engine with other characters': {
    gateway: GOOD.replace('"default":', '"hush!":'),
    says: /engines\.\(key 1\): 1 to 64 letters, digits, - and _/,
  },
  'a variable whose name is content': {
    gateway: adding('admin: { port: 0, token: "a${hush!}" }').replace('"admin":{"port":0},', ''),
    says: /admin\.token: the name of an environment variable is needed between \$\{ and \}/,
  },
  'a key in PEM in place of its file': {
    gateway: engine('tls: { ca: "-----BEGIN CERTIFICATE-----\\nhush" }').replace('http:', 'https:'),
    says: /engines\.default\.tls\.ca: the file \(a path that is not shown\) cannot be read/,
  },
  'users in place of their file': {
    gateway: GOOD.replace('users.yaml', 'users:\\n- hush'),
    says: /\(a path that is not shown\) does not exist/,
  },
  'a password that begins with an asterisk': {
    gateway: engine('credentials: { username: gw, password: *hush }'),
    says: /line 1, column \d+: the alias \(\*name\) has no anchor .*quote a value that begins with \*/,
  },
  'a text between two lines': {
    gateway: `version: 1\nengines:\n  default:\n    credentials:\n      username: gw\n      password:hush\n      x: 1\n`,
    says: /line 6, column \d+: a space is missing after a colon, or the indentation is wrong/,
  },
  'an escape that YAML does not know': {
    gateway: engine('credentials: { username: gw, password: "\\hush" }'),
    says: /line 1, column \d+: /,
  },
  'a resource that is an asterisk': {
    records: 'authorizations: [{ type: 0, resourceType: 6, permissions: [hush!], resourceId: * }]',
    says: /line 1, column \d+: a value that begins with \* or & needs quotes/,
  },
  'a permission that is content': {
    records: 'authorizations: [{ type: 0, resourceType: 6, permissions: [hush!], resourceId: "*" }]',
    says: /authorizations\[0\]: a value is not a permission of PROCESS_DEFINITION/,
  },
  'a list of records with a part of a value': {
    records: '[{"type": 0, "resourceType": 6, "permissions": [], "resourceId": "*", "p=1$hush": 1}]',
    says: /\[0\]: unknown key \(key 5\) that is not shown/,
  },
  'a JSON file with an unknown word': {
    records: '[{"type": 0, hush!hush}]',
    says: /unknown key \(key 2\) that is not shown/,
  },
  'a merge key': {
    gateway: engine('"<<": { password: hush }'),
    says: /engines\.default\.<<: unknown key: merge keys are not supported/,
  },
}

/** Writes the wrong files and returns a configuration that makes a reload read them. */
function makeMistake({ file }: Pick<Reloadable, 'file'>, { gateway, users, records }: Mistake): string {
  const folder = dirname(file)
  let text = gateway ?? GOOD
  if (users !== undefined) text = text.replace('users.yaml', 'wrong-users.yaml')
  if (records !== undefined) text = text.replace('records.yaml', 'wrong-records.yaml')
  writeFileSync(join(folder, 'wrong-users.yaml'), users ?? '')
  writeFileSync(join(folder, 'wrong-records.yaml'), records ?? '')
  return text
}

t.test('a value where a name is expected is not shown in any output', async (t) => {
  const gateway = await startReloadable(t, ONE)
  for (const [is, mistake] of Object.entries(MISTAKES)) {
    const text = makeMistake(gateway, mistake)
    const before = gateway.log.length
    const response = await gateway.reload(text)
    t.equal(response.status, 422, is)
    t.match(response.text.replaceAll('\\"', '"'), mistake.says, is)
    const { stdout, checked } = await check(gateway)
    t.match(checked, mistake.says, is)
    const status = await (await fetch(`${gateway.running.adminAddress}/status.json`)).text()
    t.match(status, /"lastReload":\{[^}]*"problems":\["/, is)
    const shown = { text: response.text, status, stdout, checked, log: gateway.log.slice(before) }
    t.ok(shown.log.length > 0, is)
    for (const [where, one] of Object.entries(shown))
      t.notMatch(JSON.stringify(one), 'hush', `${is}: ${where}`)
  }
})

async function check({ file }: Pick<Reloadable, 'file'>) {
  const { err, out } = await runInProcess(['check', '--config', file])
  return { checked: err, stdout: out }
}

t.test('a value where a key is expected is not shown after a change of a watched file', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const before = gateway.log.length
  writeFileSync(join(dirname(gateway.file), 'users.yaml'), `users: [{ id: mary, passwordHash: ${HASH} }]\n`)
  const isLogged = () => gateway.log.slice(before).some(({ problems }) => problems !== undefined)
  while (!isLogged()) await new Promise((resolve) => setImmediate(resolve))
  const lines = JSON.stringify(gateway.log.slice(before))
  t.match(lines, 'quote the value')
  t.notMatch(lines, 'hush')
  const { adminAddress } = gateway.running
  for (const path of ['/status.json', '/readyz?verbose'])
    t.notMatch(await (await fetch(adminAddress + path)).text(), 'hush', path)
})

t.test('a value among the arguments of a command is not shown', async (t) => {
  const config = ['--config', 'gateway.yaml']
  const commands: readonly (readonly string[])[] = [
    ['hush!hush'],
    ['hash-password', 'hush'],
    ['check', 'hush!hush', ...config],
    ['check', ...config, '--format', 'hush!hush'],
    ['check', ...config, '--timeout', 'hush'],
    ['check', ...config, '--hush!hush'],
    ['policy', 'hush!hush'],
    ['completion', 'hush!hush'],
    ['help', 'hush!hush'],
    ['who-can', 'hush!hush', ...config],
    ['who-can', 'getTask', '--path', 'hush!hush', ...config],
    ['who-can', 'getTask', '--path', 'hush!hush=1', ...config],
  ]
  for (const argv of commands) {
    const { code, out, err } = await runInProcess(argv)
    t.equal(code, 2, argv.join(' '))
    t.notMatch(out + err, 'hush', argv.join(' '))
  }
})
