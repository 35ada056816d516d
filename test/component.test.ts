import t from 'tap'
import { combined } from '../src/component.ts'
import { createMetrics } from '../src/metrics/registry.ts'

function check(name: string, ready: boolean) {
  return { readiness: () => ({ ready, checks: { [name]: 'ok' } }) }
}

t.test('combined components are ready only if each of them is ready', (t) => {
  t.same(combined([check('a', true), {}, check('b', true)]).readiness(), {
    ready: true,
    checks: { a: 'ok', b: 'ok' },
  })
  t.equal(combined([check('a', true), check('b', false)]).readiness().ready, false)
  t.equal(combined([check('a', false), check('b', true)]).readiness().ready, false)
  t.end()
})

t.test('combined components start in reverse order, with the same time limit', async (t) => {
  const calls: unknown[] = []
  const named = (name: string) => ({ start: (withinMs?: number) => void calls.push([name, withinMs]) })
  await combined([named('a'), {}, named('b')]).start(5)
  t.same(calls, [
    ['b', 5],
    ['a', 5],
  ])
})

t.test('combined components are activated, closed and then released in the order of the list', async (t) => {
  const calls: string[] = []
  const named = (name: string) => ({
    activate: () => void calls.push(`activate ${name}`),
    stop: () => void calls.push(`stop ${name}`),
    close: async () => void calls.push(`close ${name}`),
    release: () => void calls.push(`release ${name}`),
  })
  const { activate, close } = combined([named('a'), {}, named('b')])
  activate(createMetrics({ version: 'test' }))
  await close()
  const steps = ['activate', 'stop', 'close', 'release']
  t.same(
    calls,
    steps.flatMap((step) => [`${step} a`, `${step} b`]),
  )
})
