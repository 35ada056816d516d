import t from 'tap'
import { until } from '../../support/cache-harness.ts'
import { BASE } from '../../support/open-gateway.ts'
import { startNode } from '../../support/fake-engine.ts'
import { APPLIED, REFUSED, setupsOf, SUCCESSFUL } from '../../support/reloadable.ts'
import { type Started, startWorkers } from '../../support/started-workers.ts'

const node = await startNode(t)
const { ONE, TWO, ENGINES_OF_TWO } = setupsOf(node.url + BASE)
const ENGINES_OF_ONE = [{ name: 'default' }]

/** Returns the list of engines from several connections, which are distributed over the workers. */
async function enginesOf(gateway: Started): Promise<readonly unknown[]> {
  return Promise.all(Array.from({ length: 6 }, async () => (await gateway.ask('/engine')).json()))
}

const RELOADED = 'configuration reloaded'
const all = (engines: unknown) => Array.from({ length: 6 }, () => engines)

t.test('a reload applies to every worker and is counted once', async (t) => {
  const gateway = await startWorkers(t, ONE)
  t.same(await enginesOf(gateway), all(ENGINES_OF_ONE))
  await gateway.write(TWO)
  const { status, text } = await gateway.admin('/reload', { method: 'POST' })
  t.equal(status, 200, text)
  t.match(JSON.parse(text), { result: 'applied' })
  t.same(await enginesOf(gateway), all(ENGINES_OF_TWO))
  // The file watcher may have noticed the change earlier.
  const linesRead = () => gateway.lines().filter(({ msg }) => msg === RELOADED)
  await until(async () => linesRead().length > 0 && (await gateway.metric(APPLIED)) === linesRead().length)
  t.same(
    linesRead().flatMap(({ changed }) => changed),
    ['engines.second'],
  )
})

t.test('SIGHUP to the primary and a change of the file reload every worker', async (t) => {
  const gateway = await startWorkers(t, ONE)
  await gateway.write(TWO)
  gateway.kill('SIGHUP')
  const read = await gateway.line({ msg: RELOADED, cause: 'signal' })
  t.same(await enginesOf(gateway), all(ENGINES_OF_TWO))
  await gateway.write(ONE)
  await gateway.line({ msg: RELOADED, cause: 'file' }, read)
  await until(async () => JSON.stringify(await enginesOf(gateway)) === JSON.stringify(all(ENGINES_OF_ONE)))
})

t.test('an invalid file leaves all workers with their configuration', async (t) => {
  const gateway = await startWorkers(t, ONE)
  await gateway.write({ ...TWO, nosuch: 1 })
  const { status, text } = await gateway.admin('/reload', { method: 'POST' })
  t.equal(status, 422)
  t.match(JSON.parse(text), { result: 'refused', problems: [/nosuch/] })
  t.same(await enginesOf(gateway), all(ENGINES_OF_ONE))
  t.equal(await gateway.metric(SUCCESSFUL), 0)
  t.ok(Number(await gateway.metric(REFUSED)) >= 1)
  t.match((await gateway.admin('/readyz?verbose')).text, '[-] configuration')
})

t.test('a worker that starts while the file is invalid gets the configuration of the others', async (t) => {
  const gateway = await startWorkers(t, ONE)
  await gateway.write(TWO)
  await gateway.admin('/reload', { method: 'POST' })
  await gateway.write({ ...ONE, nosuch: 1 })
  await gateway.admin('/reload', { method: 'POST' })
  process.kill(Number(gateway.pids().get(1)), 'SIGKILL')
  const ended = await gateway.line({ msg: 'worker exited; restarting' })
  await gateway.line({ msg: 'worker is listening', worker: 1 }, ended)
  t.same(await enginesOf(gateway), all(ENGINES_OF_TWO))
})

t.test('a problem that only a worker detects is refused by all workers', async (t) => {
  const gateway = await startWorkers(t, ONE)
  // Workers read the records of the engine. At the start this engine does not exist.
  const silent = await startNode(t, (_request, response) => void response.writeHead(500).end())
  const asking = {
    nodes: [silent.url + BASE],
    authorization: { records: { source: 'engine' } },
    service: { username: 'demo', password: 'demo' },
  }
  await gateway.write({ engines: { ...ONE.engines, second: asking } })
  const { status, text } = await gateway.admin('/reload', { method: 'POST' })
  t.equal(status, 422)
  t.match(JSON.parse(text), { result: 'refused', problems: [/engines\.second: its records/] })
  t.same(await enginesOf(gateway), all(ENGINES_OF_ONE))
  t.equal(await gateway.metric('gateway_workers'), 2)
})

t.test('a change of the number of workers needs a restart', async (t) => {
  const gateway = await startWorkers(t, ONE)
  await gateway.write({ ...ONE, workers: 3 })
  const { status, text } = await gateway.admin('/reload', { method: 'POST' })
  t.equal(status, 422)
  t.same(JSON.parse(text), { result: 'refused', problems: ['workers: needs a restart'] })
  await gateway.write(ONE)
  await until(async () => (await gateway.admin('/reload', { method: 'POST' })).status === 200)
})
