import t from 'tap'
import { adoptShifts, isKnownShifts } from '../../src/server/known-shifts.ts'
import { openShifted } from '../support/open-shifted.ts'

const MOVED = { shares: { reads: 0.5, writes: 0.25 }, returned: null, changedAtMs: 5, knownMs: 0 }

t.test('a process adopts later shares of the same settings, and reports its own', async (t) => {
  const { engines } = (await openShifted(t, { reads: '10%' })).dependencies
  const [own] = adoptShifts(engines, [])
  t.match(own, { engine: 'default', state: { shares: { reads: 0.1, writes: 0 }, changedAtMs: 0 } })
  const settings = own?.settings ?? ''
  for (const known of [
    null,
    [null],
    [{ engine: 'default', settings: 'other', state: MOVED }],
    [{ engine: 'other', settings, state: MOVED }],
    [{ engine: 'default', settings, state: { ...MOVED, changedAtMs: 0 } }],
    [{ engine: 'default', settings, state: null }],
  ])
    t.same(adoptShifts(engines, known), [own], JSON.stringify(known))
  const [adopted] = adoptShifts(engines, [{ engine: 'default', settings, state: MOVED }])
  t.same(adopted?.state, MOVED)
  t.ok(isKnownShifts([adopted]))
  const earlier = { ...MOVED, shares: { reads: 1, writes: 1 }, changedAtMs: 4 }
  t.same(adoptShifts(engines, [{ engine: 'default', settings, state: earlier }]), [adopted])
})
