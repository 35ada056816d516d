import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { BASE } from '../support/open-gateway.ts'
import { startNode } from '../support/fake-engine.ts'
import {
  APPLIED,
  REFUSED,
  SUCCESSFUL,
  startReloadable,
  textOf,
  writeSetup,
  setupsOf,
} from '../support/reloadable.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const node = await startNode(t)
const base = node.url + BASE
const { ONE, TWO, ENGINES_OF_TWO } = setupsOf(base)

t.test('a changed file is reloaded, and a partially written file is not applied', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const text = textOf(TWO)
  await writeFile(gateway.file, text.slice(0, -20))
  await wait(600)
  t.equal(await gateway.metric(SUCCESSFUL), 1)
  t.equal(await gateway.metric(REFUSED), null)
  await writeFile(gateway.file, text)
  await until(async () => (await gateway.metric(APPLIED)) !== null)
  t.same(await gateway.engines(), ENGINES_OF_TWO)
  t.match(
    gateway.log.find(({ changed }) => changed !== undefined),
    { cause: 'file', changed: ['engines.second'] },
  )
})

t.test('the swap of a Kubernetes volume and a missing file are detected', async (t) => {
  const gateway = await startReloadable(t, ONE)
  const folder = dirname(gateway.file)
  const swapTo = async (name: string, text: string) => {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'gateway.yaml'), text)
    await symlink(name, join(folder, '..tmp'))
    await rename(join(folder, '..tmp'), join(folder, '..data'))
  }
  await swapTo('..1', textOf(ONE))
  await rm(gateway.file)
  await until(async () => (await gateway.metric(SUCCESSFUL)) === 0)
  await symlink('..data/gateway.yaml', gateway.file)
  await until(async () => (await gateway.metric(SUCCESSFUL)) === 1)
  await swapTo('..2', textOf(TWO))
  await until(async () => (await gateway.metric(APPLIED)) === 2)
  t.same(await gateway.engines(), ENGINES_OF_TWO)
})

t.test('SIGHUP reloads the configuration, and SIGTERM then ends the process as usual', async (t) => {
  const { file, write } = await writeSetup(t)
  await write(ONE)
  const child = spawn(process.execPath, [MAIN, 'start', '--config', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(() => said.includes('"listening"'), 20_000)
  await write(TWO)
  child.kill('SIGHUP')
  await until(() => said.includes('"cause":"signal"'))
  t.match(said, '"changed":["engines.second"]')
  child.kill('SIGTERM')
  await once(child, 'exit')
  t.equal(child.exitCode, 0)
})
