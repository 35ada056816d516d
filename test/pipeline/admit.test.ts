import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { GatewayError } from '../../src/errors.ts'
import { countRequest, rateKeyOf } from '../../src/pipeline/admit.ts'
import { type ReceivedRequest, receive } from '../../src/pipeline/context.ts'
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

t.test('a caller without authentication is counted by its network, and refused', (t) => {
  const counted: unknown[] = []
  const refusal = new GatewayError('GW_OVERLOADED')
  const stage = countRequest({
    ruleRateOf: () => null,
    pressure: {
      refusal: () => null,
      refusalOf: (...values) => {
        counted.push(values)
        return refusal
      },
      reserve: () => null,
      release: () => undefined,
      limit: () => undefined,
      isOver: () => false,
      ratio: () => 0,
      close: () => undefined,
    },
  })
  const address = '192.0.2.1'
  const request: ReceivedRequest = {
    raw: new IncomingMessage(new Socket()),
    method: 'POST',
    headers: { 'content-length': '3000' },
    host: 'gateway',
    url: '/app/page',
    originalUrl: '/app/page',
    routeOptions: { config: {}, bodyLimit: 1000 },
    params: {},
    context: receive('a', address),
  }
  t.throws(() => stage(request), refusal)
  t.same(counted, [[rateKeyOf(ANONYMOUS, { address }), 3000]])
  t.end()
})
