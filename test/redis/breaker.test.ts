import t from 'tap'
import { Breaker } from '../../src/redis/breaker.ts'
import { clockAt } from '../support/cache-harness.ts'

function open() {
  const clock = clockAt(0)
  return { clock, breaker: new Breaker({ threshold: 3, pauseMs: 1000, now: clock.now }) }
}

t.test('three failures in a row open the breaker, and only the third reports it', async (t) => {
  const { breaker } = open()
  t.same([breaker.failed(false), breaker.failed(false), breaker.failed(false)], [false, false, true])
  t.notOk(breaker.admits())
})

t.test('a success between failures resets the count', async (t) => {
  const { breaker } = open()
  breaker.failed(false)
  breaker.failed(false)
  breaker.succeeded()
  t.notOk(breaker.failed(false))
  t.ok(breaker.admits())
})

t.test('one decisive failure opens the breaker', async (t) => {
  const { breaker } = open()
  t.ok(breaker.failed(true))
  t.notOk(breaker.closed)
})

t.test('after each pause one call is admitted, and its success closes the breaker', async (t) => {
  const { breaker, clock } = open()
  breaker.failed(true)
  clock.nowMs = 999
  t.notOk(breaker.admits())
  clock.nowMs = 1000
  t.same([breaker.admits(), breaker.admits()], [true, false])
  t.notOk(breaker.failed(true))
  clock.nowMs = 2000
  t.same([breaker.admits(), breaker.admits()], [true, false])
  breaker.succeeded()
  t.same([breaker.admits(), breaker.admits()], [true, true])
})
