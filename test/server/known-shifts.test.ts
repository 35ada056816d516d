import t from 'tap'
import { followShifts, isKnownShifts } from '../../src/server/known-shifts.ts'
import { openShifted } from '../support/open-shifted.ts'

const MOVED = { shares: { reads: 0.5, writes: 0.25 }, returned: null, revision: 5 }

t.test('a process follows a higher revision of the same shift, and reports its own', async (t) => {
  const { engines } = (await openShifted(t, { reads: '10%' })).dependencies
  const [own] = followShifts(engines, [])
  const begin = { shares: { reads: 0.1, writes: 0 }, returned: null, revision: 0 }
  t.match(own, { engine: 'default', change: { to: 'new', from: 'old', scope: String, state: begin } })
  const changeWith = (more: object) => ({ ...Object(own?.change), state: MOVED, ...more })
  for (const known of [
    null,
    [null],
    [{ engine: 'default' }],
    [{ engine: 'other', change: changeWith({}) }],
    [{ engine: 'default', change: changeWith({ to: 'old', from: 'new' }) }],
    [{ engine: 'default', change: changeWith({ from: 'other' }) }],
    [{ engine: 'default', change: changeWith({ scope: 'other' }) }],
    [{ engine: 'default', change: changeWith({ state: { ...MOVED, revision: 0 } }) }],
    [{ engine: 'default', change: changeWith({ state: null }) }],
  ])
    t.same(followShifts(engines, known), [own], JSON.stringify(known))
  const changed = [{ engine: 'default', change: changeWith({}) }]
  t.same(followShifts(engines, changed), changed)
  t.ok(isKnownShifts(changed))
  const earlier = { ...MOVED, shares: { reads: 1, writes: 1 }, revision: 4 }
  t.same(followShifts(engines, [{ engine: 'default', change: changeWith({ state: earlier }) }]), changed)
})
