import { readFileSync } from 'node:fs'
import t from 'tap'
import { documentedKeys, REFERENCE, referencePage } from '../../docs/configuration/generate.ts'

const page = readFileSync(REFERENCE, 'utf8')

t.test('docs/configuration/reference.md equals the output of npm run docs:configuration', (t) => {
  t.equal(page, referencePage())
  t.end()
})

t.test('every key in a line `Keys:` of a page exists, and its entry links to that page', (t) => {
  const keys = documentedKeys()
  t.ok(keys.length > 30)
  t.same(
    keys.filter((key) => !page.includes(`# \`${key}\`\n`)),
    [],
  )
  t.match(page, /^### `limits\.queue`$[^#]*\[balancing\.md#load\]\(balancing\.md#load\)/m)
  t.end()
})

t.test('every key has a description and appears once on the reference page', (t) => {
  const keys = page.split(/^##+ /m).slice(1)
  const names = keys.map((key) => key.split('\n')[0])
  t.ok(names.length > 100)
  t.same(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  t.same(
    keys.filter((key) => key.split('\n').every((line, at) => at < 3 || line === '')),
    [],
  )
  t.end()
})
