import t from 'tap'
import { until } from '../support/cache-harness.ts'
import { openShifted } from '../support/open-shifted.ts'

const COUNT = 'GET /task/count'
const CLAIM = 'POST /task/a1/unclaim'

t.test(
  'with compare, a difference between the groups is reported after the client has its response',
  async (t) => {
    const { ask, received, responses, log, dependencies } = await openShifted(
      t,
      {},
      { compare: { rate: '100%' } },
    )
    responses['old'] = { status: 200, body: '{"count":3}' }
    responses['new'] = { status: 200, body: '{"count":4}' }
    t.same((await ask('demo', COUNT)).body, { count: 3 })
    await until(() => log.some(({ msg }) => msg === 'the responses of the two groups differ'))
    t.match(
      log.find(({ msg }) => msg === 'the responses of the two groups differ'),
      { engine: 'default', operation: 'getTasksCount', place: '/count', left: 'number', right: 'number' },
    )
    t.same(received.slice(0, 7), ['old', 'old', 'new', 'old', 'old', 'new', 'old'])
    t.same(new Set(received.slice(7)), new Set(['old']), 'the old group is asked whether its data changes')
    t.match(
      await dependencies.metrics.text(),
      'gateway_responses_compared_total{engine="default",operation="getTasksCount",result="different",kind=""} 1',
    )
    const before = received.length
    await ask('demo', CLAIM, { body: {} })
    await ask('demo', 'GET /version')
    t.same(
      received.slice(before),
      ['old', 'old'],
      'neither writes nor responses of a single node are compared',
    )
  },
)

t.test('if compare finds more differences than return.differences, all requests return', async (t) => {
  const { ask, received, responses, log, dependencies } = await openShifted(
    t,
    { reads: '100%', return: { differences: 1 } },
    { compare: { rate: '100%' } },
  )
  responses['old'] = { status: 200, body: '{"count":3}' }
  responses['new'] = { status: 200, body: '{"count":4}' }
  const isReturned = () => log.some(({ msg }) => msg === 'all requests return to the other group')
  for (let count = 1; count <= 2; count += 1) {
    t.notOk(isReturned())
    t.same((await ask('demo', COUNT)).body, { count: 4 })
    await until(
      () => log.filter(({ msg }) => msg === 'the responses of the two groups differ').length === count,
    )
  }
  t.ok(isReturned())
  t.same((await ask('demo', COUNT)).body, { count: 3 })
  t.ok(received.includes('new'))
  t.match(
    await dependencies.metrics.text(),
    'gateway_shift_returns_total{engine="default",reason="differences",operation=""} 1',
  )
})
