import t from 'tap'
import { decodeRecord } from '../../src/idempotency/record.ts'

t.test('a record with an unknown state is invalid', async (t) => {
  const claim = { fingerprint: 'f', owner: 'o', keepMs: 1, underWayMs: 1 }
  const read = (state: string) => decodeRecord(Buffer.from(`${JSON.stringify({ state, ...claim })}\n`))
  t.same(read('claimed'), { state: 'claimed', ...claim })
  t.equal(read('taken'), null)
})
