import { spawnSync } from 'node:child_process'
import t from 'tap'
import { keepTicksQuick } from '../../src/server/ticks.ts'

const TICKS = new URL('../../src/server/ticks.ts', import.meta.url).href

/** Returns the nanoseconds of one tick, after garbage collections at moments without any tick. */
function tickNanos(isKept: boolean): number {
  const script = `
    import { keepTicksQuick } from '${TICKS}'
    if (${isKept}) keepTicksQuick()
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const fill = (count) => { for (let i = 0; i < count; i += 1) process.nextTick(() => undefined) }
    const rounds = async () => { for (let i = 0; i < 200; i += 1) { fill(500); await pause(0) } }
    await rounds()
    for (let i = 0; i < 3; i += 1) { await pause(5); gc() }
    await rounds()
    let nanos = Infinity
    for (let i = 0; i < 50; i += 1) {
      const from = process.hrtime.bigint()
      fill(2000)
      nanos = Math.min(nanos, Number(process.hrtime.bigint() - from) / 2000)
      await pause(0)
    }
    console.log(nanos)`
  const { stdout } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script])
  return Number(stdout.toString())
}

t.test(
  'after garbage collections a tick takes less than half the time if one tick object is kept',
  async (t) => {
    const [kept, lost] = [tickNanos(true), tickNanos(false)]
    t.ok(kept > 0 && kept < lost / 2, `${kept} and ${lost} ns`)
  },
)

t.test('if Node.js runs ticks on another object, nothing is kept, and the result says so', async (t) => {
  t.equal(await keepTicksQuick(), true)
  t.equal(await keepTicksQuick(() => ({})), false)
  t.equal(await keepTicksQuick(() => ({ callback: () => undefined })), false)
})
