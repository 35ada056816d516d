import t from 'tap'
import { rateKeyOf } from '../../src/pipeline/admit.ts'
import { ANONYMOUS } from '../../src/request/principal.ts'

t.test('a user whose id looks like an address does not share the rate limit of anonymous callers', (t) => {
  const address = '192.0.2.1'
  const anonymous = rateKeyOf(ANONYMOUS, { address })
  t.equal(anonymous, rateKeyOf(ANONYMOUS, { address }))
  t.not(anonymous, rateKeyOf(ANONYMOUS, { address: '198.51.100.1' }))
  for (const userId of [anonymous.replaceAll('\0', ''), `address:${address}`, address])
    t.not(rateKeyOf({ userId, groups: [], tenants: [] }, { address }), anonymous, userId)
  t.end()
})
