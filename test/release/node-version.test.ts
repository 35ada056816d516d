import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { nodeVersionProblem } from '../../src/cli/node-version.ts'
import { buildGateway } from '../engine/build.ts'

const TOO_OLD = 'engine-gateway needs Node.js 22.19 or later, and this is '

t.test('a Node.js version that is too old is reported in one line', (t) => {
  for (const version of ['18.20.8', '20.20.2', '22.0.0', '22.18.9'])
    t.equal(nodeVersionProblem(version), `${TOO_OLD}${version}`)
  for (const version of ['22.19.0', '22.20.1', '23.0.0', '24.0.0', '24.0.0-nightly2025', '26.1.0'])
    t.equal(nodeVersionProblem(version), null, version)
  t.end()
})

t.test('package.json requires the same Node.js version', (t) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  t.match(manifest, { engines: { node: '>=22.19' } })
  t.end()
})

t.test(
  'the compiled main file runs with every Node.js on the path, or says in one line why it does not',
  async (t) => {
    const main = await buildGateway()
    const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
    for (const node of [process.execPath, ...found.filter((file) => existsSync(file))]) {
      const run = (...args: readonly string[]) =>
        spawnSync('env', ['-u', 'NODE_OPTIONS', node, ...args], { encoding: 'utf8' })
      const problem = nodeVersionProblem(run('--version').stdout.trim().slice(1))
      const { status, stdout, stderr } = run(main, '--help')
      const expected =
        problem === null
          ? { status: 0, stdout: /^Usage: engine-gateway/, stderr: '' }
          : { status: 1, stdout: '', stderr: `${problem}\n` }
      t.match({ status, stdout, stderr }, expected, node)
      if (problem !== null) t.equal(stderr, `${problem}\n`)
    }
  },
)
