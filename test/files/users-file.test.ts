import { readFile } from 'node:fs/promises'
import bcrypt from 'bcrypt'
import t from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { createPasswords } from '../../src/policy/authn/password.ts'
import { usersOf } from '../../src/files/users-file.ts'

const demoFile = new URL('../../config/users.yaml', import.meta.url).pathname
const argon = `$argon2id$v=19$m=19456,t=2,p=1$${'c2Fs'.repeat(5)}dA$${'aGFz'.repeat(10)}aGE`
const blowfish = (cost: string) => `$2b$${cost}$${'abc'.repeat(17)}ab`
const yaml = (...users: string[]) => `users:\n${users.map((user) => `  - { ${user} }\n`).join('')}`

function errorOf(text: string): ConfigError {
  try {
    usersOf(text)
  } catch (cause) {
    if (cause instanceof ConfigError) return cause
  }
  throw new Error('no problem was found')
}

t.test('a user is found by id, with or without groups and tenants', async (t) => {
  const users = usersOf(
    yaml(
      `id: demo, passwordHash: "${argon}", groups: [a, b], tenants: [x]`,
      `id: mary, passwordHash: "${blowfish('10')}"`,
    ),
  )
  t.equal(users.size, 2)
  t.same(users.find('demo'), { id: 'demo', passwordHash: argon, groups: ['a', 'b'], tenants: ['x'] })
  t.match(users.find('mary'), { groups: [], tenants: [] })
  for (const id of ['Demo', 'demo ', '__proto__', '']) t.equal(users.find(id), undefined)
})

t.test('a users file is refused with every problem and its path', async (t) => {
  const hash = `passwordHash: "${argon}"`
  const cases: readonly (readonly [claim: string, text: string, problems: readonly RegExp[]])[] = [
    [
      'a plain password',
      yaml('id: a, passwordHash: secret'),
      [/^users\[0\]\.passwordHash: must be an argon2id or bcrypt hash/],
    ],
    ['an engine’s hash', yaml('id: a, passwordHash: "{SHA-512}c2FsdA=="'), [/^users\[0\]\.passwordHash: /]],
    [
      'argon2i',
      yaml(`id: a, passwordHash: "${argon.replace('2id', '2i')}"`),
      [/^users\[0\]\.passwordHash: /],
    ],
    ['half a hash', yaml(`id: a, passwordHash: "${argon.slice(0, 40)}"`), [/^users\[0\]\.passwordHash: /]],
    ['a misspelt member', yaml(`id: a, ${hash}, group: x`), [/^users\[0\]: .*group/]],
    ['a name with a colon', yaml(`id: "a:b", ${hash}`), [/^users\[0\]\.id: must be a name/]],
    ['the name of everybody', yaml(`id: "*", ${hash}`), [/^users\[0\]\.id: must be a name/]],
    ['a name with a line break', yaml(`id: "a\\nb", ${hash}`), [/^users\[0\]\.id: must be a name/]],
    ['a number for a name', yaml(`id: 17, ${hash}`), [/^users\[0\]\.id: text is needed$/]],
    ['an empty group', yaml(`id: a, ${hash}, groups: [""]`), [/^users\[0\]\.groups\[0\]: /]],
    [
      'the same user twice',
      yaml(`id: a, ${hash}`, `id: a, ${hash}`),
      [/^users\[1\]\.id: is the same as users\[0\]\.id$/],
    ],
    [
      'several at once',
      yaml('id: a', `id: "", ${hash}`),
      [/^users\[0\]\.passwordHash: /, /^users\[1\]\.id: /],
    ],
    ['another top level', 'user: []', [/^users: /, /^\(top level\): .*user/]],
    ['broken YAML', 'users: [', [/^line 1, column \d+: /]],
  ]
  for (const [claim, text, problems] of cases) {
    const found = errorOf(text).problems
    t.equal(found.length, problems.length, `${claim}: ${found.join(' | ')}`)
    for (const [at, problem] of problems.entries()) t.match(found[at], problem, claim)
  }
})

t.test('no problem repeats a password hash', async (t) => {
  for (const text of [
    `users:\n  - { id: a, passwordHash: "${argon.slice(0, -5)}" }\n  - [`,
    yaml(`id: a, passwordHash: "x${argon}"`),
  ]) {
    t.notMatch(errorOf(text).problems.join(), /c2Fsc2Fs/)
  }
})

t.test('the dummy hash has the cost of most users and belongs to no user', async (t) => {
  const two = yaml(
    `id: a, passwordHash: "${argon}"`,
    `id: b, passwordHash: "${blowfish('12')}"`,
    `id: c, passwordHash: "${blowfish('12')}"`,
  )
  t.match(usersOf(two).dummyHash, /^\$2b\$12\$[./A-Za-z0-9]{53}$/)
  t.match(usersOf(yaml(`id: a, passwordHash: "${argon}"`)).dummyHash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.match(usersOf('users: []').dummyHash, /^\$argon2id\$/, 'also of an empty file')
})

t.test('verifying a password against a dummy hash fails for both algorithms', async (t) => {
  const passwords = createPasswords()
  const cheap = await bcrypt.hash('a', 4)
  for (const hash of [argon, cheap]) {
    const { dummyHash } = usersOf(yaml(`id: a, passwordHash: "${hash}"`))
    t.equal(await passwords.verify(dummyHash, 'a'), false)
  }
})

t.test('the users of the demo are demo, mary and peter, whose passwords are their names', async (t) => {
  const users = usersOf(await readFile(demoFile, 'utf8'), demoFile)
  const passwords = createPasswords()
  t.equal(users.size, 3)
  t.match(users.find('demo'), { passwordHash: /^\$argon2id\$/, groups: ['camunda-admin'], tenants: [] })
  t.match(users.find('mary'), { passwordHash: /^\$2b\$10\$/, groups: ['clerks'], tenants: ['acme'] })
  t.match(users.find('peter'), { passwordHash: /^\$argon2id\$/, groups: ['management'], tenants: [] })
  for (const id of ['demo', 'mary', 'peter'])
    t.equal(await passwords.verify(users.find(id)?.passwordHash ?? '', id), true)
})
