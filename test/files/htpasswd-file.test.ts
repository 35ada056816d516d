import bcrypt from 'bcrypt'
import t from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { htpasswdUsersOf } from '../../src/files/htpasswd-file.ts'
import { createPasswords } from '../../src/policy/authn/password.ts'

/** A line of the documentation of the Apache HTTP Server, which its htpasswd has written. */
const BY_APACHE = 'myName:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'
const HASH = '$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy'

function problemsOf(text: string): readonly string[] {
  try {
    htpasswdUsersOf(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

t.test('the password of a line that the Apache htpasswd wrote is verified', async (t) => {
  const hash = htpasswdUsersOf(`${BY_APACHE}\n`).find('myName')?.passwordHash ?? ''
  const passwords = createPasswords()
  t.equal(await passwords.verify(hash, 'myPassword'), true)
  t.equal(await passwords.verify(hash, 'mypassword'), false)
})

t.test('all three marks of bcrypt are accepted', async (t) => {
  const hash = await bcrypt.hash('secret', 4)
  const passwords = createPasswords()
  for (const mark of ['$2a$', '$2b$', '$2y$']) {
    const users = htpasswdUsersOf(`mary:${mark}${hash.slice(4)}`)
    t.equal(await passwords.verify(users.find('mary')?.passwordHash ?? '', 'secret'), true, mark)
  }
})

t.test('users have no groups, and comments, empty lines and Windows line ends are ignored', async (t) => {
  const users = htpasswdUsersOf(`# users\r\n\r\nmary:${HASH}\r\n  \r\njörg müller:${HASH}\r\n`)
  t.same(users.all, [
    { id: 'mary', passwordHash: HASH, groups: [], tenants: [] },
    { id: 'jörg müller', passwordHash: HASH, groups: [], tenants: [] },
  ])
  t.match(users.dummyHash, /^\$2b\$10\$/, 'an unknown user takes as long as a known one')
  t.equal(htpasswdUsersOf('').size, 0)
})

t.test('an htpasswd file is refused with every problem, by its line and without the content', async (t) => {
  const cases: readonly (readonly [claim: string, text: string, problems: readonly RegExp[]])[] = [
    ['MD5 of Apache', 'mary:$apr1$qHDFfhPC$nITSVHgYbDAK1Y0acGRnY0', [/^line 1: .*htpasswd -nB USER$/]],
    ['SHA-1', 'mary:{SHA}2PRZAyDhNDqRW2OUFwZQqPNdaSY=', [/^line 1: the password is not a bcrypt hash/]],
    ['crypt', 'mary:rqXexS6ZhobKA', [/^line 1: the password is not a bcrypt hash/]],
    ['SHA-512', `mary:$6$salt$${'a'.repeat(86)}`, [/^line 1: the password is not a bcrypt hash/]],
    ['a plain password', 'mary:hunter2', [/^line 1: the password is not a bcrypt hash/]],
    ['a bcrypt mark that is not used', `mary:${HASH.replace('2b', '2x')}`, [/^line 1: the password is not/]],
    ['half a hash', `mary:${HASH.slice(0, 40)}`, [/^line 1: the password is not/]],
    ['more after the hash', `mary:${HASH}:1:2`, [/^line 1: the password is not/]],
    ['a line without a colon', `ben:${HASH}\nhunter2\n`, [/^line 2: must be USER:HASH$/]],
    ['no user', `:${HASH}`, [/^line 1: the user must be a name/]],
    ['the name of everybody', `*:${HASH}`, [/^line 1: the user must be a name/]],
    ['a control character', `a\tb:${HASH}`, [/^line 1: the user must be a name/]],
    ['the same user twice', `a:${HASH}\n#\na:${HASH}`, [/^line 3: has the same user as line 1$/]],
    ['two problems', 'a:x\nb:y', [/^line 1: /, /^line 2: /]],
    ['a file of 16 MiB', '#'.repeat(16 * 1024 ** 2 + 1), [/^is longer than 16777216 characters$/]],
  ]
  for (const [claim, text, expected] of cases) {
    const problems = problemsOf(text)
    t.equal(problems.length, expected.length, claim)
    for (const [at, pattern] of expected.entries()) t.match(problems[at], pattern, claim)
    t.notMatch(problems.join(), /hunter2|mary/, claim)
  }
})
