import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readYaml } from '../../src/config/yaml.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { recordsOf } from '../../src/files/records-file.ts'
import { usersOf } from '../../src/files/users-file.ts'

/** Faulty YAML texts. Each contains a secret. */
const FAULTY: readonly (readonly [name: string, text: string, problems: readonly RegExp[]])[] = [
  [
    'a bracket of the wrong kind',
    'credentials: { username: gw, password: hunter2 ]\n',
    [/^line 1, column 48: Flow map /],
  ],
  [
    'a key that is there twice',
    'cache: { redis: "redis://:hunter2@h:6379", redis: x }\n',
    [/^line 1, column \d+: Map keys must be unique$/],
  ],
  [
    'text where none may be',
    'a: 1\n}hunter2\n',
    [/^line 2, column 1: Unexpected flow-map-end token in YAML stream$/],
  ],
  [
    'what looks like a block',
    'password: |hunter2\n  x\n',
    [/^line 1, column 12: Block scalar header includes extra characters$/],
  ],
  [
    'an escape that there is not',
    'password: "\\hunter2"\n',
    [/^line 1, column 12: Invalid escape sequence$/],
  ],
  [
    'what looks like an alias',
    'a: 1\npassword: *hunter2\n',
    [/^line 2, column 11: the alias \(\*name\) has no anchor/],
  ],
]

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return [error.message, ...error.problems]
    throw error
  }
  return []
}

function fileOf(t: Test, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'engine-gateway-yaml-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, text)
  return file
}

for (const [name, text, problems] of FAULTY)
  t.test(`${name} is reported with its position and without its text`, async (t) => {
    const readers = [() => loadConfig(fileOf(t, text)), () => usersOf(text), () => recordsOf(text)]
    for (const read of readers) {
      const [, ...found] = problemsOf(read)
      t.equal(found.length, problems.length, found.join(' | '))
      for (const [at, problem] of problems.entries()) t.match(found[at], problem)
      t.notMatch(found.join(), /hunter|\\h/)
    }
  })

t.test('a key that is not text causes no warning of the process', async (t) => {
  const warned = t.capture(process, 'emitWarning')
  readYaml('password: { { hunter2 } }\n')
  t.same(warned(), [])
})

t.test('an alias has the value of its anchor', async (t) => {
  t.same(readYaml('a: &x [1]\nb: *x\n'), { value: { a: [1], b: [1] }, problems: null })
})
