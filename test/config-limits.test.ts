import t, { type Test } from 'tap'
import { ConfigError } from '../src/config.ts'
import { configOf } from './gateway/open-gateway.ts'

function problemsWith(t: Test, longPolls: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    configOf(t, 'http://node', { settings: { limits: { longPolls } } })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

t.test('long polls have limits without being told', (t) => {
  const { limits } = configOf(t, 'http://node')
  t.same(limits.longPolls, { maxHold: 1_800_000, perNode: 150, waiting: 20_000 })
  t.end()
})

t.test('no node is given as many polls as make an engine refuse them', (t) => {
  t.same(problemsWith(t, { perNode: 199 }), [])
  t.match(problemsWith(t, { perNode: 200 }).join('\n'), 'limits.longPolls.perNode: ')
  t.end()
})

t.test('workers are not sent away at once', (t) => {
  t.same(problemsWith(t, { maxHold: '999ms' }), ['limits.longPolls.maxHold: must be at least 1s'])
  t.end()
})
