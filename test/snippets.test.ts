import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { configJsonSchema } from '../src/config/config.ts'
import { isMapping } from '../src/config/mapping.ts'
import { policyTestsOf } from '../src/files/policy-tests-file.ts'
import { recordsOf } from '../src/files/records-file.ts'
import { usersOf } from '../src/files/users-file.ts'
import { membershipsOf } from '../src/files/groups-file.ts'

import { SHOWN_COMMANDS } from './support/program.ts'
import { problemsIn } from './support/config-file.ts'

// Readers copy snippets and names of keys from pages. These tests check them with the code that reads them.

const ROOT = join(import.meta.dirname, '..')
const PAGES = [
  'README.md',
  'SECURITY.md',
  'examples/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }).filter((page) => !page.startsWith('docs/decisions/')),
]
/** Sections without which no configuration is valid. */
const NEEDED = {
  version: 1,
  engines: { default: { nodes: ['http://engine:8080/engine-rest'] } },
  identity: { source: 'file', file: 'users.yaml' },
  authorization: { records: { source: 'file', file: 'records.yaml' } },
}
/** The problem of a snippet that names a variable or a file of the reader's machine. */
const OF_THE_READER = /: the environment variable \w+ is not set$|: the file \S+ cannot be read$/

/** Keys at the top level of a configuration. */
const TOP_LEVEL = new Set(keysAt([]))

function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

for (const page of PAGES) {
  t.test(`the YAML snippets of ${page} are valid`, (t) => {
    for (const [, indent = '', block = ''] of textOf(page).matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm))
      checkSnippet(t, block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
    t.end()
  })
}

function checkSnippet(t: Test, text: string): void {
  const value: unknown = parse(text)
  if (typeof value !== 'object' || value === null) return
  const keys = Object.keys(value)
  if (keys.includes('users') && !text.includes('passwordHash'))
    return void t.doesNotThrow(() => membershipsOf(text, 'a page'), text)
  if (keys.includes('users')) return void t.doesNotThrow(() => usersOf(withHashes(text), 'a page'), text)
  if (keys.includes('tests')) return void t.doesNotThrow(() => policyTestsOf(text, 'a page'), text)
  if (keys.includes('authorizations')) return void t.doesNotThrow(() => recordsOf(text, 'a page'), text)
  // Other blocks are for Prometheus, Kubernetes or the chart.
  if (!keys.some((key) => TOP_LEVEL.has(key)) || keys.includes('config')) return
  const settings = { ...NEEDED, ...value }
  t.same(
    problemsIn(t, settings).filter((problem) => !OF_THE_READER.test(problem)),
    [],
    text,
  )
}

/** Replaces hashes that a page shortens. */
function withHashes(text: string): string {
  return text.replaceAll(
    /passwordHash: *"?[^",}\n]*…[^",}\n]*"?/g,
    'passwordHash: "$2b$10$d/gyW6JQo2kkmkWcvar66.JXI0epwefiOKAsBT2lKepdZugPsKBOy"',
  )
}

for (const page of PAGES) {
  t.test(`the configuration keys that ${page} names exist`, (t) => {
    const named = [...textOf(page).matchAll(/`([a-z]\w*(?:\.(?:\w+|NAME|\*)(?:\[\])?)+)`/g)].map(
      ([, path = '']) => path,
    )
    const wrong = named.filter((path) => {
      const steps = path.replaceAll('[]', '').split('.')
      return TOP_LEVEL.has(steps[0] ?? '') && !path.endsWith('.ts') && !exists(steps)
    })
    t.same([...new Set(wrong)], [])
    t.end()
  })
}

for (const page of PAGES) {
  t.test(`the commands that ${page} names exist`, (t) => {
    const uses = [...textOf(page).matchAll(/\bengine-gateway ([a-z-]+)((?: [^`\n|&]*)?)/g)]
    const problems = uses.flatMap(([, name = '', rest = '']) => {
      const command = SHOWN_COMMANDS.find((one) => one.name() === name)
      if (command === undefined) return []
      const known = new Set(command.options.flatMap(({ long, short }) => [long, short]))
      const options = rest.match(/(?<= )--?[a-z][\w-]*/g) ?? []
      return options
        .filter((option) => !known.has(option) && option !== '--help')
        .map((one) => `${name} ${one}`)
    })
    t.same(problems, [])
    t.end()
  })
}

type JsonSchema = Readonly<Record<string, unknown>>

function schemasAt(path: readonly string[]): readonly JsonSchema[] {
  let at = formsOf(configJsonSchema())
  for (const step of path)
    at = at.flatMap(({ properties, additionalProperties }) =>
      formsOf(isMapping(properties) && step in properties ? properties[step] : additionalProperties),
    )
  return at
}

/** Returns the forms that a value may have. A list has the form of its items. */
function formsOf(schema: unknown): readonly JsonSchema[] {
  if (!isMapping(schema)) return []
  const { anyOf, oneOf, items } = schema
  const inner = [anyOf, oneOf].flatMap((forms) => (Array.isArray(forms) ? forms : []))
  return [schema, ...[...inner, items].flatMap(formsOf)]
}

function keysAt(path: readonly string[]): readonly string[] {
  return schemasAt(path).flatMap(({ properties }) => (isMapping(properties) ? Object.keys(properties) : []))
}

function exists(path: readonly string[]): boolean {
  return schemasAt(path).length > 0
}
