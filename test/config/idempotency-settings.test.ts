import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { configOf } from '../support/open-gateway.ts'

function problemsWith(t: Test, idempotency: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    configOf(t, 'http://node', { settings: { idempotency } })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

t.test('idempotency keys are kept for one day by default', (t) => {
  t.same(configOf(t, 'http://node').idempotency, { keep: 86_400_000, namespace: '' })
  t.end()
})

t.test('idempotency keys are kept for at least one minute, because a client may still retry', (t) => {
  t.same(problemsWith(t, { keep: '1m' }), [])
  t.same(problemsWith(t, { keep: '59s' }), ['idempotency.keep: must be at least 1m'])
  t.end()
})

t.test('a namespace of idempotency keys has only letters, digits and a few other characters', (t) => {
  t.same(problemsWith(t, { namespace: 'blue.orders-2' }), [])
  t.match(problemsWith(t, { namespace: 'a b' }).join('\n'), 'idempotency.namespace: up to 64 letters')
  t.end()
})
