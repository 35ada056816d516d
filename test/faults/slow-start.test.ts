import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { writeSetup } from '../support/reloadable.ts'
import { spawnGateway } from '../support/started-workers.ts'

const STOP = new URL('stop-amid-routes.mjs', import.meta.url).href
/** Fastify waits ten seconds for a plugin. */
const STOPPED_MS = 11_000

t.test('a start without CPU time for longer than the plugin timeout of Fastify succeeds', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({
    engines: { default: { nodes: ['http://127.0.0.1:9/engine-rest'] } },
    health: { probe: false },
  })
  const { child, lines, err } = spawnGateway(t, file, { preload: STOP })
  await until(async () => (await stateOf(child.pid)) === 'T', 30_000)
  await delay(STOPPED_MS)
  child.kill('SIGCONT')
  await until(() => err() !== '' || lines().some(({ msg }) => msg === 'listening'), 30_000)
  t.equal(err(), '')
  t.ok(lines().some(({ msg }) => msg === 'listening'))
})

/** Returns the state of a process. `T` means stopped. */
async function stateOf(pid: number | undefined): Promise<string | undefined> {
  return /\) (\w) /.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1]
}
