import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { systemdSkip } from '../support/requirements.ts'

const ROOT = join(import.meta.dirname, '../..')
const UNIT = readFileSync(join(ROOT, 'examples/systemd/engine-gateway.service'), 'utf8')

/** Returns the values of a setting of the unit. */
function valuesOf(name: string): readonly string[] {
  return [...UNIT.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

/** Runs systemd-analyze on the unit. The program of the unit need not exist on this machine, so another one replaces it. */
function analyze(t: Test, ...args: readonly string[]) {
  const file = join(t.testdir({}), 'engine-gateway.service')
  writeFileSync(
    file,
    UNIT.replace('/usr/bin/node ', '/bin/true ').replace(/^WorkingDirectory=.*$/m, 'WorkingDirectory=/'),
  )
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

t.test('systemd accepts the unit, and rates its exposure as low', { skip: systemdSkip() }, async (t) => {
  t.same(analyze(t, 'verify'), { status: 0, said: '' })
  // From 0 to 100. A service without restrictions has 96.
  const { status, said } = analyze(t, 'security', '--offline=true', '--threshold=20')
  t.equal(status, 0, said)
})

t.test('the service starts the program with the flags of the image', async (t) => {
  const entry = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? '[]'
  const words: readonly string[] = JSON.parse(entry)
  t.same(valuesOf('ExecStart'), [`/usr/bin/${words.join(' ')}`])
  t.same(valuesOf('WorkingDirectory'), ['/opt/engine-gateway'])
})

t.test('systemd waits longer than the drain and sends signals only to the primary', async (t) => {
  const { timeouts } = loadConfig(join(ROOT, 'config/gateway.yaml'))
  t.ok(Number(valuesOf('TimeoutStopSec')[0]) * 1000 >= timeouts.drain + 5000)
  t.same(valuesOf('KillMode'), ['mixed'])
  t.same(valuesOf('ExecReload'), ['/bin/kill -HUP $MAINPID'])
})

t.test('docs/service.md copies every folder that the unit and the page use', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/service.md'), 'utf8')
  const copied = /cp -R (.*) \/opt\/engine-gateway\//.exec(page)?.[1]?.split(' ') ?? []
  const used = [...`${page}${UNIT}`.matchAll(/\/opt\/engine-gateway\/([\w-]+)/g)].map(
    ([, folder = '']) => folder,
  )
  t.same(
    [...new Set(used)].filter((folder) => !copied.includes(folder)),
    [],
  )
  for (const needed of ['package.json', 'node_modules', 'dist']) t.ok(copied.includes(needed), needed)
})
