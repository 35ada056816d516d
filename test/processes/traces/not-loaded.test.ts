import t, { type Test } from 'tap'
import { until } from '../../support/cache-harness.ts'
import { startCollector } from '../../support/collector.ts'
import { startNode } from '../../support/fake-engine.ts'
import { authorizationOf, BASE } from '../../support/open-gateway.ts'
import { writeSetup } from '../../support/reloadable.ts'
import { spawnGateway } from '../../support/started-workers.ts'

const PRELOAD = new URL('loaded-modules.ts', import.meta.url).href
const node = await startNode(t)

/** Returns the modules of the SDK that a process has loaded after its first response. */
async function loadedWith(test: Test, settings: Readonly<Record<string, unknown>>) {
  const { file, write } = await writeSetup(test)
  await write({ engines: { default: { nodes: [node.url + BASE] } }, ...settings })
  const { lines, child, exit } = spawnGateway(test, file, { preload: PRELOAD })
  const listening = () => lines().find(({ msg }) => msg === 'listening')
  await until(() => listening() !== undefined, 30_000)
  const headers = { authorization: authorizationOf('demo') }
  const { status } = await fetch(`${String(listening()?.['address'])}${BASE}/version`, { headers })
  test.equal(status, 200)
  child.kill('SIGTERM')
  test.equal(await exit, 0)
  return lines().filter(({ msg }) => msg === 'loaded')
}

t.test('without an endpoint no module of the SDK is loaded', async (t) => {
  t.same(await loadedWith(t, {}), [])
})

t.test('with an endpoint, pending spans are exported before the exit', async (t) => {
  const collector = await startCollector(t)
  t.not((await loadedWith(t, { traces: { endpoint: collector.url, sampleRatio: '100%' } })).length, 0)
  t.ok(collector.spans.some(({ name }) => name === 'getRestAPIVersion'))
})
