import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { anchorOf } from '../docs/configuration/generate.ts'
import { COMPATIBILITY_PAGE, compatibilityPage } from '../docs/generate-compatibility.ts'

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

for (const page of PAGES) {
  t.test(`${page} has no comments after the commands that readers copy`, (t) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const blocks = matchesOf(/^```(?:sh|bash|console)(?: [\w -]+)?\n([\s\S]*?)^```$/gm, text)
    // The shell zsh passes the words of such a comment as arguments.
    t.same(
      blocks.flatMap((block) => block.split('\n').filter((line) => /^[^#'"]*\S.*\s#\s/.test(line))),
      [],
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

t.test('docs/advisories.md has a test with the name of each vulnerability', (t) => {
  const text = readFileSync(join(ROOT, 'docs/advisories.md'), 'utf8')
  const rows = text.match(/^\| \[CVE-.*\|$/gm) ?? []
  t.same(
    new Set(rows.flatMap((row) => matchesOf(/\[(CVE-\d+-\d+)\]/g, row))),
    new Set(matchesOf(/(CVE-\d+-\d+)/g, text)),
    'every vulnerability has a row',
  )
  for (const row of rows) {
    const [name = ''] = matchesOf(/\[(CVE-\d+-\d+)\]/g, row)
    const [file = ''] = matchesOf(/`(test\/engine\/[\w-]+\.test\.ts)`/g, row)
    t.ok(readFileSync(join(ROOT, file), 'utf8').includes(name), name)
    t.equal(row.split(' | ').length, 7, 'every column has a value')
  }
  t.end()
})

t.test('docs/compatibility.md equals the output of npm run docs:compatibility', (t) => {
  t.equal(readFileSync(COMPATIBILITY_PAGE, 'utf8'), compatibilityPage())
  t.end()
})

t.test('docs/compatibility.md contains only what the script of CI runs', (t) => {
  const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8')
  const without = (pattern: RegExp) => ci.replaceAll(pattern, '')
  t.match(rowOf(ci, 'Operaton 1.0'), ['–', /nineteen/, /`newer-engines`/])
  t.match(rowOf(without(/^compare .*operaton.*$/gm), 'Operaton 1.0'), ['–', '–', /`newer-engines`/])
  t.match(rowOf(without(/^run_tests .*$/gm), 'Camunda 7.22'), ['–', /every operation/, '– |'])
  t.match(rowOf(without(/^compare .*$/gm), 'Camunda 7.22'), ['Camunda 7.22.0', '–', /every test/])
  const nineteen = 'compare --family camunda-7.24.0 --nineteen --at-least 1234 --percent 98'
  t.match(rowOf(nineteen, 'Camunda 7.24'), [
    '–',
    'Camunda 7.24.0: the nineteen operations, at least 1,234 comparisons, 98 % of them equal',
    '– |',
  ])
  t.match(rowOf('', 'CIB seven 2.2'), ['–', /by hand/, '– |'])
  t.end()
})

/** Returns the cells of a release after the number of operations, on the page for another script of CI. */
function rowOf(script: string, release: string): readonly string[] | undefined {
  const lines = compatibilityPage(script).split('\n')
  return lines
    .find((line) => line.startsWith(`| ${release} |`))
    ?.split(' | ')
    .slice(2)
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path)
  if (!existsSync(file)) return false
  if (anchor === undefined) return true
  return statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).includes(anchor)
}

/** Returns the anchors that GitHub creates for the headings. */
function anchorsOf(text: string): readonly string[] {
  return matchesOf(/^#+ (.+)$/gm, text).map(anchorOf)
}

function matchesOf(pattern: RegExp, text: string): readonly string[] {
  return [...text.matchAll(pattern)].flatMap(([, found]) => (found === undefined ? [] : [found]))
}
