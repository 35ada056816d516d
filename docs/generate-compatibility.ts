import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { OPERATIONS } from '../src/operations/all.ts'
import { PUBLISHED_SOURCES } from '../src/operations/published/facts.ts'
import { RELEASES, type Release } from '../src/operations/published/releases.ts'
import { type Options, readOptions } from '../test/differential/options.ts'
import { DEFAULT_FAMILY, FAMILIES, type Family, VERSIONS } from '../test/engine/build.ts'

/** The page that is generated from the known releases and from the runs of `.ci/run`. */
export const COMPATIBILITY_PAGE = new URL('compatibility.md', import.meta.url)

const CI_SCRIPT = new URL('../.ci/run', import.meta.url)
const ENGINE_TESTS = new URL('../test/engine/', import.meta.url)

/** Comparisons that are not part of `.ci/run`, because the engine is not on Maven Central. */
const BY_HAND: Readonly<Partial<Record<Release, string>>> = {
  'CIB seven 2.2':
    'by hand, 2.2 built from source: the nineteen operations, at the default and at a named engine, all equal',
}

const INTRODUCTION = `# Compatibility

This page lists the known releases of engines, and what \`.ci/run\` runs with each of them. \`npm run docs:compatibility\` generates it from the
table of operations, the lines of \`.ci/run\`, the engines that \`test/engine/build.ts\` builds and the tests that start them. A test compares the
page with them.

**Operations**: how many operations of the table the release has. [Operations](operations.md) lists them. Operations of single forks are for
administrators, because they were not compared with a running engine. Fluxnova 3.0 added the two on ad-hoc
subprocesses.

**Published API**: the document on Maven Central from which the operations are known. A test compares them with this document. Without a document,
the operations are known from the published API of Camunda 7.23 and from the sources of the fork.

**Compared with a secured engine**: \`npm run test:differential\` sends the same requests to a secured engine and to the gateway in front of an open
one, for generated callers and authorization records. A run with fewer comparisons, or with fewer equal ones, fails. "Every operation" means the
published API of Camunda 7.22. The nineteen operations are those of \`test/engine/nineteen.ts\`.

**Tests with a running engine**: the tests of \`test/engine\` and \`test/faults\` that start this version.

| release | operations | published API | compared with a secured engine | tests with a running engine |
|---|---|---|---|---|
`

/** @param ci the text of `.ci/run` */
export function compatibilityPage(ci: string = readFileSync(CI_SCRIPT, 'utf8')): string {
  const runs = runsOf(ci)
  return INTRODUCTION + RELEASES.map((release) => rowOf(release, runs)).join('')
}

/** The suites and comparisons that the script runs. */
interface Runs {
  readonly suites: readonly string[]
  readonly comparisons: readonly Options[]
}

function runsOf(ci: string): Runs {
  const argsOf = (pattern: RegExp) => [...ci.matchAll(pattern)].map(([, args = '']) => args)
  return {
    suites: argsOf(/^run_tests run (test:\w+)$/gm),
    comparisons: argsOf(/^compare (.+)$/gm).map((args) => readOptions(args.replaceAll('"', '').split(' '))),
  }
}

function rowOf(release: Release, runs: Runs): string {
  const families = FAMILIES.filter((family) => isOf(release, VERSIONS[family]))
  const byHand = BY_HAND[release]
  const cells = [
    [release],
    [String(operationCountOf(release))],
    sourcesOf(release, runs),
    [...families.flatMap((family) => comparisonsOf(family, runs)), ...(byHand === undefined ? [] : [byHand])],
    families.flatMap((family) => testsOf(family, runs)),
  ]
  return `| ${cells.map((lines) => (lines.length === 0 ? '–' : lines.join('<br>'))).join(' | ')} |\n`
}

/** Returns whether a version belongs to a release: `Operaton 1.0.3` belongs to `Operaton 1.0`. */
function isOf(release: Release, version: string): boolean {
  return version.startsWith(`${release}.`)
}

function operationCountOf(release: Release): number {
  return OPERATIONS.filter(
    ({ only, unpublished }) => unpublished !== true && (only === undefined || only.includes(release)),
  ).length
}

function sourcesOf(release: Release, { suites }: Runs): readonly string[] {
  if (!suites.includes('test:engine')) return []
  return PUBLISHED_SOURCES.map(({ family, version }) => `${family} ${version}`).filter((one) =>
    isOf(release, one),
  )
}

function comparisonsOf(family: Family, { comparisons }: Runs): readonly string[] {
  return comparisons
    .filter((options) => options.family === family)
    .map((options) => `${VERSIONS[family]}: ${comparisonText(options)}`)
}

function comparisonText({ nineteen, only, atLeast, percent, scannedItems, pageSize }: Options): string {
  const all = nineteen ? 'the nineteen operations' : 'every operation'
  const conditions = [
    ...(scannedItems === null ? [] : [`\`limits.scannedItems: ${scannedItems}\``]),
    ...(pageSize === null ? [] : [`pages of ${pageSize} items`]),
  ]
  return [
    only.length === 0 ? all : only.map((id) => `\`${id}\``).join(', '),
    ...(conditions.length === 0 ? [] : [`with ${conditions.join(' and ')}`]),
    `at least ${atLeast.toLocaleString('en')} comparisons`,
    `${percent} % of them equal`,
  ].join(', ')
}

function testsOf(family: Family, { suites }: Runs): readonly string[] {
  const isDefault = family === DEFAULT_FAMILY
  return [
    ...(suites.includes('test:engine')
      ? [isDefault ? 'every test that names no other engine' : namesOf(family)]
      : []),
    ...(suites.includes('test:faults') && isDefault ? ['the tests of failures (`test/faults/engine`)'] : []),
  ].map((text) => `${VERSIONS[family]}: ${text}`)
}

/** Returns the names of the test files that name an engine. */
function namesOf(family: Family): string {
  const files = globSync('**/*.test.ts', { cwd: ENGINE_TESTS }).toSorted()
  return files
    .filter((file) => {
      const text = readFileSync(new URL(file, ENGINE_TESTS), 'utf8')
      return text.includes(`'${family}'`) || text.includes('of FAMILIES')
    })
    .map((file) => `\`${basename(file, '.test.ts')}\``)
    .join(', ')
}

if (import.meta.main) {
  const page = compatibilityPage()
  writeFileSync(COMPATIBILITY_PAGE, page)
  process.stdout.write(`${readFileSync(COMPATIBILITY_PAGE, 'utf8').split('\n').length} lines\n`)
}
