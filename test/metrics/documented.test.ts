import { globSync, readFileSync } from 'node:fs'
import t from 'tap'

const ROOT = new URL('../../', import.meta.url).pathname
const NAME = /'((?:gateway|http_server|http_client)_[a-z_]+)'/g
const ROW = /^\| `([a-z_]+)` \|/gm

t.test('docs/metrics.md has every metric that the code makes, and no other', (t) => {
  const made = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    firstOf(NAME, readFileSync(ROOT + file, 'utf8')),
  )
  const told = firstOf(ROW, readFileSync(`${ROOT}docs/metrics.md`, 'utf8'))
  t.same(told.toSorted(), [...new Set(made)].toSorted())
  t.ok(told.length > 20)
  t.end()
})

function firstOf(pattern: RegExp, text: string): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name]))
}
