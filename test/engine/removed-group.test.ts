import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { javaSkip } from '../support/requirements.ts'
import { exchange } from './exchange.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { shiftTo } from './shift-to.ts'
import { checkStarts, deployExternal, startLoad } from './steady-load.ts'
import { startTwoFamilies } from './two-families.ts'

const LOAD = { readsEveryMs: 20, startsEveryMs: 100 }
const SETTINGS = 'limits: { pressure: { eventLoopDelay: null } }'
/** How long requests are sent in each state. */
const PHASE_MS = 2000
const QUIET_MS = 15_000

t.test(
  'after a move, the old group is drained, stopped and removed, and no request fails',
  { skip: javaSkip, timeout: 300_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine: 'shift: { to: new }',
      settings: SETTINGS,
    })
    await deployExternal(old.base)
    const load = startLoad(t, gateway, LOAD)
    await wait(PHASE_MS)
    await shiftTo(gateway, { reads: '100%', writes: '100%' })
    await wait(PHASE_MS)

    await gateway.reload({
      nodes: [
        { url: old.base, group: 'old', drain: true },
        { url: next.base, group: 'new' },
      ],
      engine: 'shift: { to: new, reads: 100%, writes: 100% }',
      settings: SETTINGS,
    })
    let attempts = await attemptsAt(gateway, old.base)
    await until(async () => {
      await wait(PHASE_MS / 2)
      const before = attempts
      attempts = await attemptsAt(gateway, old.base)
      return attempts === before
    }, QUIET_MS)
    t.ok(attempts > 0, 'the old group had requests before')
    await old.stop()
    await wait(PHASE_MS)
    t.equal(await attemptsAt(gateway, old.base), attempts, 'the stopped node gets no request')

    await gateway.reload({ nodes: [next.base], engine: 'release: Operaton 1.0', settings: SETTINGS })
    await wait(PHASE_MS)
    const results = await load.end()
    t.comment(`${results.length} requests`)
    t.same(
      results.filter(({ failure }) => failure !== null),
      [],
    )
    await checkStarts(t, next.base, results)
  },
)

/** Returns how many requests the gateway has sent to a node. */
async function attemptsAt({ adminAddress }: GatewayProcess, node: string): Promise<number> {
  const { body } = await exchange(adminAddress, { method: 'GET', path: '/metrics' })
  const lines = String(body).split('\n')
  const own = lines.filter(
    (line) => line.startsWith('gateway_upstream_attempts_total{') && line.includes(node),
  )
  return own.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
