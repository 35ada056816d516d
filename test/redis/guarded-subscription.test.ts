import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { GuardedSubscription } from '../../src/redis/guarded-subscription.ts'

/** Opens a subscription without Redis. `events` has what it did, in order. */
function open(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const clock = { nowMs: 0 }
  const events: string[] = []
  const receivers: ((text: string) => void)[] = []
  const subscription = new GuardedSubscription({
    redis: { url: 'redis://127.0.0.1:1' },
    channel: 'news',
    now: () => clock.nowMs,
    onMessage: (text) => {
      if (text === 'valid') events.push('message')
      return text === 'valid'
    },
    onGap: () => events.push('gap'),
    onFlood: {
      onPause: (isFirst) => events.push(isFirst ? 'flood' : 'flood again'),
      onRecovery: () => events.push('recovery'),
    },
    subscribe: ({ onMessage }) => {
      events.push('open')
      receivers.push(onMessage)
      return { close: () => events.push('close') }
    },
  })
  t.teardown(() => subscription.close())
  const receive = (text: string, count = 1): void => {
    for (let at = 0; at < count; at += 1) receivers.at(-1)?.(text)
  }
  const advance = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 5000) {
      clock.nowMs += 5000
      mock.timers.tick(5000)
    }
  }
  return { subscription, events, receive, advance }
}

t.test('invalid messages up to the limit change nothing', async (t) => {
  const { subscription, events, receive } = open(t)
  receive('invalid', 100)
  receive('valid')
  t.same(events, ['open', 'message'])
  t.equal(subscription.isFlooded, false)
})

t.test('a flood closes the connection, and messages that it had read are ignored', async (t) => {
  const { subscription, events, receive } = open(t)
  receive('invalid', 5000)
  receive('valid')
  t.same(events, ['open', 'close', 'flood'])
  t.equal(subscription.isFlooded, true)
})

t.test('a pause counts as a gap every five seconds, and ends after a window without a flood', async (t) => {
  const { subscription, events, receive, advance } = open(t)
  receive('invalid', 101)
  advance(30_000)
  t.same(events, ['open', 'close', 'flood', ...Array(5).fill('gap'), 'open'])
  receive('valid')
  advance(10_000)
  t.same(events.slice(9), ['message', 'recovery'])
  t.equal(subscription.isFlooded, false)
})

t.test('a flood that continues is reported as the same flood', async (t) => {
  const { events, receive, advance } = open(t)
  receive('invalid', 101)
  advance(30_000)
  receive('invalid', 101)
  t.same(events.slice(-3), ['open', 'close', 'flood again'])
})
