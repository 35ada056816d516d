import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { startNode } from '../support/fake-engine.ts'
import { BASE } from '../support/open-gateway.ts'
import { askToReload, startReloadable } from '../support/reloadable.ts'
import { startWorkers } from '../support/started-workers.ts'

const node = await startNode(t)
const engines = { default: { nodes: [node.url + BASE] } }

/** The paths that were refused, as the file names them. */
function idsIn(file: string): readonly unknown[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line).requestId)
}

t.test('after a reload each line is in the file of that name, and none is lost', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'audit.jsonl')
  const gateway = await startReloadable(t, { engines, log: { audit: file } })
  const refused = async (id: string) =>
    fetch(`${gateway.running.address}${BASE}/task`, { headers: { 'x-request-id': id } })
  await refused('first')
  for (const name of ['a', 'b']) {
    renameSync(file, join(folder, name))
    // The file of the configuration has not changed: that is no reason to keep the other one.
    await askToReload(gateway.running)
    t.ok(existsSync(file))
    t.equal(statSync(file).mode & 0o007, 0)
    await refused(`after-${name}`)
  }
  await until(() => idsIn(file).length === 1)
  t.same([join(folder, 'a'), join(folder, 'b'), file].map(idsIn), [['first'], ['after-a'], ['after-b']])
})

t.test('a file that was renamed without a word is left within seconds', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'audit.jsonl')
  const gateway = await startReloadable(t, { engines, log: { audit: file } })
  renameSync(file, join(folder, 'old'))
  await until(() => existsSync(file), 20_000)
  await fetch(`${gateway.running.address}${BASE}/task`)
  await until(() => idsIn(file).length === 1)
  t.same(idsIn(join(folder, 'old')), [])
})

t.test('where no new file opens the old one takes the lines, and the log says so once', async (t) => {
  const folder = t.testdir({ audit: {} })
  const file = join(folder, 'audit', 'audit.jsonl')
  const gateway = await startReloadable(t, { engines, log: { audit: file } })
  const told = () => gateway.log.filter(({ path }) => path === file)
  renameSync(join(folder, 'audit'), join(folder, 'moved'))
  for (let count = 0; count < 2; count += 1) await askToReload(gateway.running)
  await fetch(`${gateway.running.address}${BASE}/task`)
  await until(() => idsIn(join(folder, 'moved', 'audit.jsonl')).length === 1)
  t.match(told(), [{ level: 'error', reason: /ENOENT/ }])
  renameSync(join(folder, 'moved'), join(folder, 'audit'))
  t.equal(told().length, 1, 'it is the open file again')
})

t.test('SIGHUP at the primary has every worker leave a renamed file', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'audit.jsonl')
  const gateway = await startWorkers(t, { engines, log: { audit: file } })
  renameSync(file, join(folder, 'old'))
  gateway.kill('SIGHUP')
  await gateway.line({ cause: 'signal' })
  const stranger = { headers: { connection: 'close' } }
  for (let count = 0; count < 4; count += 1) await fetch(`${gateway.address}${BASE}/task`, stranger)
  await until(() => idsIn(file).length === 4)
  t.same(idsIn(join(folder, 'old')), [])
})
