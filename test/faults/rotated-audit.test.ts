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

/** Returns the ids of the refused requests in the file. */
function idsIn(file: string): readonly unknown[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.flatMap((line) => JSON.parse(line).requestId ?? [])
}

t.test('after a reload each audit line is in the new file, and none is lost', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'audit.jsonl')
  const gateway = await startReloadable(t, { engines, log: { audit: file } })
  const refused = async (id: string) =>
    fetch(`${gateway.running.address}${BASE}/task`, { headers: { 'x-request-id': id } })
  await refused('first')
  for (const name of ['a', 'b']) {
    renameSync(file, join(folder, name))
    // The configuration file is unchanged. The audit file must be opened again nevertheless.
    await askToReload(gateway.running)
    t.ok(existsSync(file))
    t.equal(statSync(file).mode & 0o007, 0)
    await refused(`after-${name}`)
  }
  await until(() => idsIn(file).length === 1)
  t.same([join(folder, 'a'), join(folder, 'b'), file].map(idsIn), [['first'], ['after-a'], ['after-b']])
})

t.test('a renamed audit file is replaced within seconds without a reload', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'audit.jsonl')
  const gateway = await startReloadable(t, { engines, log: { audit: file } })
  renameSync(file, join(folder, 'old'))
  await until(() => existsSync(file), 20_000)
  await fetch(`${gateway.running.address}${BASE}/task`)
  await until(() => idsIn(file).length === 1)
  t.same(idsIn(join(folder, 'old')), [])
})

t.test('if the new audit file cannot be opened, the old one is used, and one error is logged', async (t) => {
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

t.test('SIGHUP to the primary makes every worker open a new audit file', async (t) => {
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
