import t from 'tap'
import type { Traffic } from '../../src/metrics/traffic.ts'
import {
  addStatuses,
  type EngineStatus,
  isProcessStatus,
  type ProcessStatus,
} from '../../src/status/process-status.ts'
import { statusOf } from '../../src/status/status.ts'

const NODE = {
  node: 'http://a:8080/engine-rest',
  isDrained: false,
  group: null,
  isDrainedByCommand: false,
  reason: null,
  limit: 8,
  inFlight: 1,
  polls: 2,
  latencyMs: 5,
  ejections: 1,
  certificateEndsAtMs: null,
}
const ENGINE: EngineStatus = {
  name: 'default',
  authorization: 'enforce',
  validation: 'enforce',
  sources: [
    { source: 'users', problem: null, ageMs: 1 },
    { source: 'records', problem: null, ageMs: 1 },
  ],
  polls: { open: 1, waiting: 2, abandoned: 3 },
  queue: 1,
  slow: { running: 2, waiting: 1 },
  isQueueStanding: false,
  nodes: [NODE],
  groups: null,
}
const TRAFFIC: Traffic = {
  inFlight: 2,
  operations: [{ operation: 'getTask', failed: 1, refused: 3, durations: [1, 0, 2] }],
  engines: [{ engine: 'default', failed: 1, refused: 3, durations: [1, 0, 2] }],
  refusals: [
    { engine: 'default', operation: 'getTask', stage: 'permit', reason: '403', count: 3, kind: 'refusal' },
  ],
  cache: [{ tier: 'memory', result: 'hit', count: 4 }],
}
const PROCESS: ProcessStatus = { engines: [ENGINE], traffic: TRAFFIC, redis: 'up', pressure: [] }

t.test('counts of several processes are summed, and the worst state is shown', async (t) => {
  const worse: EngineStatus = {
    ...ENGINE,
    sources: ENGINE.sources.map((one) => (one.source === 'records' ? { ...one, problem: 'away' } : one)),
    isQueueStanding: true,
    nodes: [{ ...NODE, reason: 'refused', latencyMs: 9, certificateEndsAtMs: 7 }],
  }
  const other = { ...PROCESS, engines: [worse], redis: 'down', pressure: ['heap'] } as const
  for (const both of [
    [PROCESS, other],
    [other, PROCESS],
  ]) {
    const sum = addStatuses(both)
    t.match(sum, {
      redis: 'down',
      pressure: ['heap'],
      engines: [
        {
          polls: { open: 2, waiting: 4, abandoned: 6 },
          queue: 2,
          isQueueStanding: true,
          sources: [{ problem: null }, { problem: 'away' }],
          nodes: [
            {
              inFlight: 2,
              polls: 4,
              limit: 16,
              ejections: 2,
              reason: 'refused',
              latencyMs: 9,
              certificateEndsAtMs: 7,
            },
          ],
        },
      ],
      traffic: {
        inFlight: 4,
        operations: [{ operation: 'getTask', failed: 2, refused: 6, durations: [2, 0, 4] }],
        engines: [{ engine: 'default', failed: 2, refused: 6, durations: [2, 0, 4] }],
        refusals: [{ count: 6 }],
        cache: [{ count: 8 }],
      },
    })
    t.equal(sum.engines.length, 1)
  }
})

t.test('the status without any process is empty', async (t) => {
  t.match(addStatuses([]), { engines: [], redis: 'none', traffic: { inFlight: 0, operations: [] } })
})

t.test('an invalid message is not a process status', async (t) => {
  t.equal(isProcessStatus(PROCESS), true)
  for (const other of [null, {}, { engines: [] }, { engines: {}, traffic: {} }, 'engines'])
    t.equal(isProcessStatus(other), false)
})

function engineWith(isDrained: boolean): EngineStatus {
  return { ...ENGINE, nodes: [{ ...NODE, isDrained, isDrainedByCommand: isDrained }] }
}

/** Returns the combined status of a node in processes that have drained it or not. */
function drainedIn(...states: readonly boolean[]) {
  const processes = states.map((state) => ({ ...PROCESS, engines: [engineWith(state)] }))
  return addStatuses(processes).engines[0]?.nodes[0]
}

t.test('a node counts as drained if all processes have drained it', async (t) => {
  t.match(drainedIn(true, true), { isDrained: true, isDrainedByCommand: true })
  t.match(drainedIn(true, false), { isDrained: false, isDrainedByCommand: false })
})

t.test('the status has at most 100 lines of each kind, with the most frequent refusals first', async (t) => {
  const refusals = Array.from({ length: 300 }, (_, count) => ({
    engine: 'default',
    operation: `o${count}`,
    stage: 'permit',
    reason: '403',
    count,
    kind: count < 5 ? ('outage' as const) : ('refusal' as const),
  }))
  const lines = Array.from({ length: 300 }, (_, at) => `line ${at}`)
  const status = statusOf({
    processes: [{ ...PROCESS, traffic: { ...TRAFFIC, refusals } }],
    workers: 2,
    readiness: { ready: true, checks: { good: 'ok', 'nodes of a:': 'all are drained' } },
    configuration: { isApplied: true, appliedAtMs: 1, lastReload: null, warnings: lines },
    replica: 'gateway-0',
    version: '1',
    mayAsk: false,
    dateProblems: (problems) => problems.map((problem) => ({ ...problem, sinceMs: 5 })),
  })
  t.same(
    status.traffic.refusals.slice(0, 6).map(({ count }) => count),
    [4, 3, 2, 1, 0, 299],
  )
  t.equal(status.traffic.refusals.length, 105)
  t.equal(status.configuration.warnings.length, 100)
  t.equal(status.problems.length, 101)
  t.match(status.problems[0], { text: 'nodes of a: all are drained', kind: 'outage', sinceMs: 5 })
  t.match(status, {
    replica: 'gateway-0',
    workers: { answering: 1, configured: 2 },
    ready: true,
    mayAsk: false,
  })
})

const DIFFERENCE = {
  times: 1,
  isConfirmed: true,
  operation: 'getTask',
  place: '/name',
  left: 'missing',
  right: 'null',
  atMs: 1,
}
const GROUPS = {
  to: 'new',
  from: 'old',
  reads: 0.1,
  writes: 0,
  returned: null,
  finding: null,
  refused: null,
  compared: null,
}

/** Returns groups with a difference at each of these times. */
const groupsOf = (atMs: readonly number[]) => ({
  ...GROUPS,
  compared: {
    results: { equal: 3, different: atMs.length },
    waiting: 1,
    differences: atMs.map((at) => ({ ...DIFFERENCE, place: `/m${at}`, atMs: at })),
  },
})

t.test('results of comparisons are summed, with the five newest differences', (t) => {
  const both = [groupsOf([1, 3, 5, 7]), groupsOf([2, 4])].map((groups) => ({
    ...PROCESS,
    engines: [{ ...ENGINE, groups }],
  }))
  const { engines } = addStatuses(both)
  t.match(engines[0]?.groups?.compared, { results: { equal: 6, different: 6 }, waiting: 2 })
  t.same(
    engines[0]?.groups?.compared?.differences.map(({ atMs }) => atMs),
    [2, 3, 4, 5, 7],
  )
  t.end()
})

t.test('a group that one process refuses is shown as refused', (t) => {
  const refused = { ...GROUPS, refused: 'old schema' }
  for (const both of [
    [GROUPS, refused],
    [refused, GROUPS],
  ]) {
    const { engines } = addStatuses(both.map((groups) => ({ ...PROCESS, engines: [{ ...ENGINE, groups }] })))
    t.same(engines[0]?.groups, refused)
  }
  t.end()
})

t.test('if the requests of one process have returned, its shares are shown', (t) => {
  const returned = { ...GROUPS, reads: 0, returned: 'errors' }
  for (const both of [
    [GROUPS, returned],
    [returned, GROUPS],
  ]) {
    const { engines } = addStatuses(both.map((groups) => ({ ...PROCESS, engines: [{ ...ENGINE, groups }] })))
    t.same(engines[0]?.groups, returned)
  }
  const found = { ...returned, finding: '5 of 9 requests failed' }
  for (const both of [
    [found, returned],
    [returned, found],
  ]) {
    const { engines } = addStatuses(both.map((groups) => ({ ...PROCESS, engines: [{ ...ENGINE, groups }] })))
    t.same(engines[0]?.groups, found, 'the process that has returned the requests knows the reason')
  }
  t.end()
})
