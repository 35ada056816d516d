import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
}

interface Lock {
  readonly packages: Readonly<Record<string, Partial<Manifest> & { readonly version?: string }>>
}

t.test('an installation of the package gets the tested version of each direct dependency', (t) => {
  const { dependencies }: Manifest = JSON.parse(read('package.json'))
  const { packages }: Lock = JSON.parse(read('package-lock.json'))
  for (const [name, range] of Object.entries(dependencies)) {
    t.match(range, /^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/, `${name}: an exact version`)
    t.equal(range.replace(/^npm:.*@/, ''), packages[`node_modules/${name}`]?.version, `${name}: as locked`)
  }
  t.same(packages['']?.dependencies, dependencies, 'the lock file has the same versions')
  t.end()
})

t.test('Dependabot updates the packages, the base image and the actions', (t) => {
  const { version, updates } = parse(read('.github/dependabot.yml'))
  t.equal(version, 2)
  const manifests: Readonly<Record<string, string | null>> = {
    npm: 'package.json',
    docker: 'Dockerfile',
    'github-actions': null,
  }
  const found: string[] = []
  for (const { 'package-ecosystem': ecosystem, directory, schedule } of updates) {
    found.push(ecosystem)
    t.equal(schedule.interval, 'weekly', ecosystem)
    const manifest = manifests[ecosystem] ?? ''
    t.ok(existsSync(join(ROOT, directory, manifest)), `${ecosystem}: ${directory}${manifest}`)
  }
  t.same(found.toSorted(), Object.keys(manifests).toSorted())
  t.end()
})
