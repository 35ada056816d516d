import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { helmSkip } from '../support/requirements.ts'

const ROOT = join(import.meta.dirname, '../..')
const REPOSITORY = 'registry.example/team/engine-gateway'
const DIGEST = `sha256:${'d'.repeat(64)}`
const BASE_DIGEST = `sha256:${'b'.repeat(64)}`
/** The files that the scripts read. */
const FILES = [
  'Dockerfile',
  'package.json',
  'package-lock.json',
  '.npmrc',
  '.gitignore',
  'release',
  'helm/engine-gateway',
]
const { version }: { readonly version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/**
 * A program `docker` that records its arguments, one on each line, and reports digests. `PUBLISHED` is the tag that exists in its
 * registry. No test machine has a daemon with several platforms.
 */
const DOCKER = `#!/usr/bin/env bash
printf '%s\\n' "$@" >>"$DOCKER_LOG"
case "$1 $2 $3" in
  'buildx version '*) echo 'github.com/docker/buildx v0.30.0' ;;
  "buildx imagetools inspect")
    if [ "\${5:-}" = --format ]; then echo ${BASE_DIGEST}; else [ "$4" = "\${PUBLISHED:-none}" ]; fi ;;
  'buildx build '*)
    while [ "$1" != --metadata-file ]; do shift; done
    echo '{ "containerimage.digest": "${DIGEST}" }' >"$2" ;;
  *) exit 1 ;;
esac
`

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly dev?: boolean
}

interface Component {
  readonly purl: string
  readonly 'bom-ref': string
}

interface Dependency {
  readonly ref: string
  readonly dependsOn: readonly string[]
}

interface Release {
  readonly folder: string
  readonly git: (...args: readonly string[]) => void
  readonly run: (
    script: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => { readonly status: number | null; readonly stdout: string; readonly stderr: string }
  readonly read: (file: string) => string
  /** Arguments of docker, in all calls. */
  readonly docker: () => readonly string[]
}

/** Copies what the scripts need to a repository with one commit. */
function openRelease(t: Test): Release {
  const folder = t.testdir({ bin: { docker: DOCKER }, clone: {}, 'docker.log': '' })
  const clone = join(folder, 'clone')
  const log = join(folder, 'docker.log')
  chmodSync(join(folder, 'bin/docker'), 0o755)
  for (const file of FILES) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(ROOT, file), join(clone, file), {
      recursive: true,
      filter: (path) => !path.includes('release/out'),
    })
  }
  const identity = [
    '-c',
    'user.name=test',
    '-c',
    'user.email=test@example.org',
    '-c',
    'init.defaultBranch=main',
  ]
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: clone, stdio: 'pipe' })
  git('init')
  git('add', '.')
  git('commit', '-m', 'release')
  const path = [join(folder, 'bin'), process.env['PATH']].join(delimiter)
  return {
    folder: clone,
    git,
    run: (script, args, env = {}) => {
      const { NODE_OPTIONS: _, ...inherited } = process.env
      return spawnSync(join(clone, 'release', script), args, {
        encoding: 'utf8',
        env: { ...inherited, PATH: path, DOCKER_LOG: log, ...env },
      })
    },
    read: (file) => readFileSync(join(clone, 'release/out', file), 'utf8'),
    docker: () => readFileSync(log, 'utf8').trim().split('\n'),
  }
}

/** Returns the values of an option. */
function valuesOf(words: readonly string[], option: string): readonly string[] {
  return words.flatMap((word, at) => (words[at - 1] === option ? [word] : []))
}

t.test('an image is built for two platforms from a pinned base, with labels', async (t) => {
  const { run, docker, read, folder } = openRelease(t)
  const { status, stdout, stderr } = run('build-image', [REPOSITORY])
  t.equal(status, 0, stderr)
  t.equal(stdout.trim(), `${REPOSITORY}@${DIGEST}`)
  const words = docker()
  t.same(valuesOf(words, '--platform'), ['linux/amd64,linux/arm64'])
  t.same(valuesOf(words, '--tag'), [`${REPOSITORY}:${version}`])
  t.same(valuesOf(words, '--build-arg'), [`NODE_IMAGE=node:24-slim@${BASE_DIGEST}`])
  t.same(valuesOf(words, '--provenance'), ['mode=max'])
  t.same(valuesOf(words, '--output'), ['type=oci,dest=release/out/image.tar'])
  t.notOk(words.includes('--push'))
  const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8' }).trim()
  const labels = valuesOf(words, '--label')
  for (const label of [
    'title=engine-gateway',
    'licenses=Apache-2.0',
    `version=${version}`,
    `revision=${revision}`,
    'base.name=node:24-slim',
    `base.digest=${BASE_DIGEST}`,
  ])
    t.ok(labels.includes(`org.opencontainers.image.${label}`), label)
  t.same(
    valuesOf(words, '--annotation'),
    labels.map((label) => `index:${label}`),
  )
  t.same(JSON.parse(read('image.json')), {
    repository: REPOSITORY,
    tag: version,
    digest: DIGEST,
    platforms: 'linux/amd64,linux/arm64',
    revision,
    base: `node:24-slim@${BASE_DIGEST}`,
  })
  for (const part of [DIGEST, BASE_DIGEST, revision, 'buildx v0.30.0']) t.match(read('provenance.md'), part)
})

t.test('the SBOM lists exactly the packages that are locked for the image', async (t) => {
  const { run, read } = openRelease(t)
  t.equal(run('build-image', [REPOSITORY]).status, 0)
  const sbom = JSON.parse(read('sbom.cdx.json'))
  t.match(sbom, { bomFormat: 'CycloneDX', metadata: { component: { name: 'engine-gateway', version } } })
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  )
  const locked = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  const expected = locked.map(
    ([path, one]) => `${one.name ?? path.replace(/.*node_modules\//, '')}@${one.version}`,
  )
  const components: readonly Component[] = sbom.components
  const listed = components.map((one) => decodeURIComponent(one.purl).replace(/^pkg:npm\/|\?.*$/g, ''))
  t.same(listed.toSorted(), [...new Set(expected)].toSorted())
  const refs = new Set([...components.map((one) => one['bom-ref']), sbom.metadata.component['bom-ref']])
  const dependencies: readonly Dependency[] = sbom.dependencies
  t.same(
    dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref)),
    [],
    'dependencies name only listed packages',
  )
})

t.test('only a tagged commit is pushed, and a published version never moves', async (t) => {
  const { run, docker, git } = openRelease(t)
  t.match(run('build-image', ['--push', REPOSITORY]), {
    status: 1,
    stderr: `the commit has no tag v${version}`,
  })
  git('tag', `v${version}`)
  const published = { PUBLISHED: `${REPOSITORY}:${version}` }
  t.match(run('build-image', ['--push', REPOSITORY], published), {
    status: 1,
    stderr: 'is already published',
  })
  t.notOk(docker().includes('build'))
  t.equal(run('build-image', ['--push', REPOSITORY]).status, 0)
  t.ok(docker().includes('--push'))
  t.same(valuesOf(docker(), '--output'), [])
})

t.test('changes that are not committed, and wrong arguments, are refused', async (t) => {
  const { run, folder, docker } = openRelease(t)
  for (const args of [[], ['engine-gateway'], ['--pull', REPOSITORY], [`${REPOSITORY}:1.0.0`, 'x']])
    t.match(run('build-image', args), { status: 1, stderr: /usage: release\/build-image/ }, args.join(' '))
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\n')
  t.match(run('build-image', [REPOSITORY]), { status: 1, stderr: /working tree has changes/ })
  t.notOk(docker().includes('build'))
})

t.test('pages and the chart name only scripts that exist', async (t) => {
  const files = [
    'README.md',
    'docs/releases.md',
    'helm/engine-gateway/values.yaml',
    'helm/engine-gateway/templates/_helpers.tpl',
  ]
  const named = files.flatMap((file) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<![\w/.])release\/(?!out\b)[\w.-]*\w/g),
  ])
  t.ok(named.length > 5)
  t.same(
    named.filter(([path]) => !existsSync(join(ROOT, path))).map(([path]) => path),
    [],
  )
})

t.test('the packaged chart installs exactly the image that was built', { skip: helmSkip }, async (t) => {
  const { run, folder, git } = openRelease(t)
  t.match(run('package-chart', []), { status: 1, stderr: /run release\/build-image first/ })
  t.equal(run('build-image', [REPOSITORY]).status, 0)
  const { status, stdout, stderr } = run('package-chart', [])
  t.equal(status, 0, stderr)
  const file = join(folder, stdout.trim())
  t.ok(existsSync(file))
  const engine = 'config.engines.orders.nodes={http://orders:8080/engine-rest}'
  const text = execFileSync('helm', ['template', 'gw', file, '--kube-version', '1.34', '--set', engine], {
    encoding: 'utf8',
  })
  const images = [...text.matchAll(/^\s+image: (.*)$/gm)].map(([, image]) => image)
  t.same(new Set(images), new Set([`"${REPOSITORY}@${DIGEST}"`]))
  t.match(readFileSync(join(folder, 'helm/engine-gateway/values.yaml'), 'utf8'), "  repository: ''\n")
  git('commit', '--allow-empty', '-m', 'later')
  t.match(run('package-chart', []), { status: 1, stderr: /was built from another commit/ })
})
