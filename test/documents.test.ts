import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..')
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'bench/README.md',
  'examples/README.md',
  ...globSync('docs/**/*.md', { cwd: ROOT }),
]

for (const page of PAGES) {
  t.test(`${page} refers only to files, pages and headings that exist`, (t) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const named = matchesOf(/(?<![\w/.])((?:src|docs|test|config|bench|helm|examples)\/[\w./-]*\w)/g, text)
    // Source files are named with their full path.
    const short = matchesOf(/`([\w-]+(?:\/[\w-]+)*\.ts)`/g, text).filter((path) => path.includes('/'))
    t.same(
      [...named, ...short].filter((path) => !existsSync(join(ROOT, path))),
      [],
      'paths',
    )
    const links = matchesOf(/\]\(([^)\s]+)\)/g, text).filter((link) => !/^\w+:/.test(link))
    t.same(
      links.filter((link) => !leadsSomewhere(page, link)),
      [],
      'links',
    )
    t.end()
  })
}

t.test('docs/faults.md refers only to tests that exist', (t) => {
  const rows = readFileSync(join(ROOT, 'docs/faults.md'), 'utf8').match(/^\| .*\|$/gm) ?? []
  const tests = rows.flatMap((row) => matchesOf(/`([^`]+)`/g, row.split(' | ').at(-1) ?? ''))
  t.ok(tests.length > 50)
  t.same(
    tests.filter(
      (name) => !existsSync(join(ROOT, 'test', name)) && !existsSync(join(ROOT, `test/${name}.test.ts`)),
    ),
    [],
  )
  t.end()
})

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
  if (!existsSync(file)) return false
  if (anchor === undefined) return true
  return statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
}

/** Returns the anchors that GitHub creates for the headings. */
function anchorsOf(text: string): readonly string[] {
  return matchesOf(/^#+ (.+)$/gm, text).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function matchesOf(pattern: RegExp, text: string): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, found]) => (found === undefined ? [] : [found]))
}
