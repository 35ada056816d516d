import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FEATURES } from '../../src/features.ts'

const ROOT = join(import.meta.dirname, '../..')
const LISTS = ['features.ts', 'feature-settings.ts']

t.test('each feature has its folder, and each folder is a feature', (t) => {
  t.same(FEATURES.map(({ name }) => name).toSorted(), readdirSync(join(ROOT, 'src/features')).toSorted())
  t.end()
})

for (const { name } of FEATURES)
  t.test(`the rest compiles without the feature ${name}`, (t) => {
    const copy = t.testdir({})
    for (const part of ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    rmSync(join(copy, 'src/features', name), { recursive: true })
    const changed = LISTS.filter((file) => {
      const path = join(copy, 'src', file)
      const text = readFileSync(path, 'utf8')
      const rest = withoutFeature(text, name)
      writeFileSync(path, rest)
      return rest !== text
    })
    t.ok(changed.includes('features.ts'))
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
    // Removes the options with which the test runner would instrument the compiler.
    const args = ['-u', 'NODE_OPTIONS', process.execPath, compiler, '-p', 'tsconfig.build.json', '--noEmit']
    const { status, stdout, stderr } = spawnSync('env', args, { cwd: copy, encoding: 'utf8' })
    t.equal(stdout + stderr, '')
    t.equal(status, 0)
    t.end()
  })

/** Returns a file without the imports from the folder of a feature, and without the imported names in its lists. */
function withoutFeature(text: string, feature: string): string {
  const lines = text.split('\n')
  const isImport = (line: string) => line.startsWith('import ') && line.includes(`'./features/${feature}/`)
  const names = lines.filter(isImport).flatMap((line) => /\{ (.*) \}/.exec(line)?.[1]?.split(', ') ?? [])
  const rest = lines.filter((line) => !isImport(line)).join('\n')
  return names.reduce((left, name) => left.replaceAll(new RegExp(`\\b${name}\\b,? ?`, 'g'), ''), rest)
}
