import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { configOf } from '../support/open-gateway.ts'

function problemsWith(t: Test, longPolls: Readonly<Record<string, unknown>>): readonly string[] {
  return problemsWithLimits(t, { longPolls })
}

function problemsWithLimits(t: Test, limits: Readonly<Record<string, unknown>>): readonly string[] {
  return problemsOf(t, { limits })
}

function problemsOf(t: Test, settings: Readonly<Record<string, unknown>>): readonly string[] {
  try {
    configOf(t, 'http://node', { settings })
    return []
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [String(error)]
  }
}

t.test('long polls have limits by default', (t) => {
  const { limits } = configOf(t, 'http://node')
  t.same(limits.longPolls, { maxHold: 1_800_000, perNode: 150, waiting: 20_000, nudge: { every: 750 } })
  t.end()
})

t.test('the limit of polls for each node is below the number at which an engine refuses polls', (t) => {
  t.same(problemsWith(t, { perNode: 199 }), [])
  t.match(problemsWith(t, { perNode: 200 }).join('\n'), 'limits.longPolls.perNode: ')
  t.end()
})

t.test('the maximum hold time of polls is at least one second', (t) => {
  t.same(problemsWith(t, { maxHold: '999ms' }), ['limits.longPolls.maxHold: must be at least 1s'])
  t.end()
})

t.test('by default no user has a rate limit, and a process refuses requests when it is nearly full', (t) => {
  const { limits } = configOf(t, 'http://node')
  t.equal(limits.rate, null)
  t.same(limits.pressure, { eventLoopDelay: 1000, heap: 0.9, memory: 0.7 })
  t.end()
})

t.test('a rate limit has a period of whole seconds and a burst of at most its requests', (t) => {
  const problems = (rate: unknown) => problemsWithLimits(t, { rate })
  t.same(problems({ requests: 600, per: '1m', burst: 100, users: { worker: 'unlimited' } }), [])
  t.same(problems({ requests: 6, per: '1500ms' }), ['limits.rate.per: must be whole seconds'])
  t.same(problems({ requests: 6, burst: 7 }), ['limits.rate.burst: must not be more than requests'])
  t.equal(problems({ requests: 6, users: { mary: { requests: 6, burst: 7 } } }).length, 1)
  t.end()
})

t.test('a share is written in percent', (t) => {
  const { limits } = configOf(t, 'http://node', {
    settings: { limits: { slowShare: '10%', pressure: { heap: '80%' } } },
  })
  t.equal(limits.slowShare, 0.1)
  t.equal(limits.pressure.heap, 0.8)
  t.same(problemsWithLimits(t, { slowShare: 0.5 }), [
    'limits.slowShare: a share from 10% to 100% is needed, for example 25%',
  ])
  t.same(problemsWithLimits(t, { slowShare: '9%' }), [
    'limits.slowShare: a share from 10% to 100% is needed, for example 25%',
  ])
  t.end()
})

t.test('the message about a key of an earlier version names its new name', (t) => {
  t.match(
    problemsOf(t, { timeouts: { answer: '1m' } }).join('\n'),
    /^timeouts\.answer: unknown key .*: did you mean response\?$/,
  )
  for (const [former, name] of [
    ['filteredRows', 'scannedItems'],
    ['rowParts', 'subqueries'],
  ] as const)
    t.match(problemsWithLimits(t, { [former]: 10 }).join('\n'), `: did you mean ${name}?`)
  t.end()
})

t.test('lists have no limit of items by default, and a limit has no unknown keys', (t) => {
  t.equal(configOf(t, 'http://node').limits.maxResults, null)
  const problems = (maxResults: unknown) => problemsWithLimits(t, { maxResults })
  t.same(problems({ items: 10, users: { batch: 'unlimited' }, groups: { workers: 100 } }), [])
  t.match(problems({ items: 10, roles: {} }).join('\n'), /limits\.maxResults.*roles/)
  t.match(problems({}).join('\n'), 'limits.maxResults.items')
  t.match(problems({ items: 2_147_483_647 }).join('\n'), 'limits.maxResults.items')
  t.same(problems({ items: 10, groups: { workers: 'all' } }), [
    'limits.maxResults.groups.workers: unlimited or a number is needed',
  ])
  t.end()
})

t.test('the memory limit is a share or a number of bytes', (t) => {
  const memoryOf = (memory: unknown) =>
    configOf(t, 'http://node', { settings: { limits: { pressure: { memory } } } }).limits.pressure.memory
  t.equal(memoryOf('50%'), 0.5)
  t.equal(memoryOf('400MiB'), 400 * 1024 ** 2)
  for (const memory of [0.5, '0.5', 2])
    t.same(problemsWithLimits(t, { pressure: { memory } }), [
      'limits.pressure.memory: a share like 70% or a size like 400MiB is needed',
    ])
  t.equal(problemsWithLimits(t, { pressure: { eventLoopDelay: '50ms' } }).length, 1)
  t.end()
})

t.test('a rule for a ceiling has no empty list, no unknown key and a known ceiling', (t) => {
  const problems = (...ceilings: readonly unknown[]) => problemsWithLimits(t, { ceilings })
  t.same(configOf(t, 'http://node').limits.ceilings, [])
  t.same(problems({ ceiling: 'read' }, { ceiling: 'safe', clients: ['agent'] }), [])
  t.same(problems({ ceiling: 'all', users: ['a'], rate: { requests: 6 } }), [])
  const path = 'limits.ceilings[0]'
  for (const member of ['users', 'groups', 'clients'])
    t.same(problems({ ceiling: 'read', [member]: [] }), [
      `${path}.${member}: must not be empty: without names the rule would apply to every caller`,
    ])
  t.match(problems({ ceiling: 'read', claim: { path: 'scope', values: [] } }), [/claim\.values/])
  t.match(problems({ users: ['a'] }), [/ceiling/])
  t.match(problems({ ceiling: 'write' }), [/ceiling/])
  t.match(problems({ ceiling: 'read', user: ['a'] }), [/user/])
  t.match(problems({ ceiling: 'read', rate: { requests: 6, burst: 7 } }), [/rate\.burst/])
  t.end()
})
