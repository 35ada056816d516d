import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const PRETENURING = new URL('../../src/server/pretenuring.ts', import.meta.url).href

/** MiB by which the old heap grows under requests, of which 500 are under way at each moment; some 30 MiB of it stay. */
function oldGrowth(isStopped: boolean): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { stopPretenuring } from '${PRETENURING}'
    if (${isStopped}) stopPretenuring()
    const oldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size
    const staying = Array.from({ length: 300000 }, (_, at) => ({ at, read: [at] }))
    const underWay = []
    function serve(at) {
      const request = { at, body: { text: String(at), read: [at, at] }, told: { at: [at] } }
      underWay[at % 500] = { request, answer: { request, headers: { 'x-request-id': at } } }
      return new Array(500).fill(at).length
    }
    let before = oldBytes()
    let grown = 0
    for (let at = 0; at < 400000; at += 1) {
      serve(at)
      if (at % 100 !== 0) continue
      const now = oldBytes()
      if (now > before) grown += now - before
      before = now
    }
    console.log(grown / 1024 ** 2, staying.length)`
  // On one thread, and without what tap would load there, V8 decides alike each time.
  const file = join(t.testdir({ 'serve.mjs': script }), 'serve.mjs')
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, '--single-threaded', file])
  return Number.parseFloat(stdout.toString())
}

t.test('without pretenuring, requests that are over are no part of the old heap', async (t) => {
  const [stopped, usual] = [oldGrowth(true), oldGrowth(false)]
  t.ok(stopped < usual / 3, `${stopped} and ${usual} MiB`)
})
