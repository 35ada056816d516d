import { existsSync } from 'node:fs'
import t from 'tap'
import type { ComparisonReport } from '../../src/proxy/compare/comparison-report.ts'
import { createProblemTimes } from '../../src/status/problem-times.ts'
import { problemsOf } from '../../src/status/problems.ts'

const SUM = { engines: [], redis: 'none', pressure: [] } as const
const READY = { ready: true, checks: {} }
const ALL = { answering: 1, configured: 1 }
const NO_WARNINGS = { warnings: [] }

const problemsWith = (more: Partial<Parameters<typeof problemsOf>[0]>) =>
  problemsOf({ sum: SUM, workers: ALL, readiness: READY, configuration: NO_WARNINGS, ...more })

t.test('a check that is not ok is a problem with the runbook of its alert', async (t) => {
  const cases = [
    ['configuration', 'the file was refused', 'warning', 'GatewayConfigRefused'],
    ['nodes of default:', 'none of 2 is healthy', 'outage', 'GatewayEngineDown'],
    ['nodes of default:', 'all are drained', 'outage', 'GatewayEngineDown'],
    ['nodes of default:', '2 of 4 are ejected', 'warning', 'GatewayNodeEjected'],
    ['records of default:', 'no response', 'warning', 'GatewaySourceDown'],
    ['identity of default:', 'no response', 'warning', 'GatewaySourceDown'],
    ['issuer keycloak of default:', 'no response', 'warning', 'GatewaySourceDown'],
    ['authorization of default:', 'mode is report: nothing is refused', 'warning', 'GatewayNotEnforcing'],
    ['validation of default:', 'mode is off: nothing is refused', 'warning', 'GatewayNotEnforcing'],
    ['drain', 'shutting down', 'warning', null],
  ] as const
  for (const [check, result, kind, runbook] of cases) {
    const readiness = { ready: true, checks: { other: 'ok', [check]: result } }
    const text = `${check.replace(/:$/, '')}: ${result}`
    t.same(problemsWith({ readiness }), [{ text, kind, runbook }], text)
    const page = new URL(`../../docs/runbooks/${runbook}.md`, import.meta.url)
    if (runbook !== null) t.ok(existsSync(page), `${runbook}.md`)
  }
})

t.test('a problem of several workers is listed once, with the workers', async (t) => {
  const checks = {
    'worker 1: nodes of default:': 'none of 2 is healthy',
    'worker 2: nodes of default:': 'none of 2 is healthy',
    'worker 3: nodes of default:': '1 of 2 are ejected',
  }
  t.same(
    problemsWith({ readiness: { ready: true, checks } }).map(({ text }) => text),
    [
      'nodes of default: none of 2 is healthy (workers 1, 2)',
      'nodes of default: 1 of 2 are ejected (worker 3)',
    ],
  )
})

t.test('outages are listed before warnings', async (t) => {
  const problems = problemsWith({
    sum: { ...SUM, redis: 'down', pressure: ['heap', 'event-loop'] },
    workers: { answering: 1, configured: 3 },
    configuration: { warnings: ['admin.token: is missing'] },
  })
  t.same(
    problems.map(({ text, kind, runbook }) => `${kind} ${runbook} ${text}`),
    [
      'outage GatewayMemoryHigh new requests are refused: heap',
      'outage GatewayEventLoopLate new requests are refused: event-loop',
      'warning GatewayWorkerRestarts workers: 2 of 3 do not respond',
      'warning GatewayRedisDown Redis: does not respond',
      'warning null admin.token: is missing',
    ],
  )
})

t.test('a problem keeps its time while it exists, also if its numbers change', async (t) => {
  const clock = { nowMs: 1000 }
  const dateProblems = createProblemTimes(() => clock.nowMs)
  const at = (nowMs: number, ...results: readonly string[]) => {
    clock.nowMs = nowMs
    const checks = Object.fromEntries(results.map((result, index) => [`nodes of e${index}:`, result]))
    return dateProblems(problemsWith({ readiness: { ready: true, checks } })).map(({ sinceMs }) => sinceMs)
  }
  t.same(at(1000, '1 of 4 are ejected'), [1000])
  t.same(at(2000, '2 of 4 are ejected', '1 of 2 are ejected'), [1000, 2000])
  t.same(at(3000, 'ok', '1 of 2 are ejected'), [2000])
  t.same(at(4000, '2 of 4 are ejected'), [4000], 'a problem that returns begins again')
  t.same(at(5000, 'none of 4 is healthy'), [5000], 'a worse problem is another one')
})

t.test('returned requests and differences between groups are problems', (t) => {
  const engine = {
    name: 'default',
    authorization: 'enforce',
    validation: 'enforce',
    sources: [],
    polls: { open: 0, waiting: 0, abandoned: 0 },
    queue: 0,
    slow: { running: 0, waiting: 0 },
    isQueueStanding: false,
    nodes: [],
  }
  const groups = {
    to: 'new',
    from: 'old',
    reads: 0,
    writes: 0,
    returned: null,
    finding: null,
    refused: null,
    compared: null,
  }
  const problemsIn = (
    more:
      | Partial<typeof groups>
      | { returned: string; finding?: string }
      | { refused: string }
      | { compared: ComparisonReport },
  ) =>
    problemsWith({ sum: { ...SUM, engines: [{ ...engine, groups: { ...groups, ...more } }] } }).map(
      ({ text, kind, runbook }) => `${kind} ${runbook} ${text}`,
    )
  const compared = { waiting: 0, differences: [] }
  t.same(problemsIn({ compared: { ...compared, results: { equal: 5, 'known: hal-links': 2 } } }), [])
  t.same(problemsIn({ compared: { ...compared, results: { different: 3 } } }), [
    'warning GatewayDifferencesFound groups of default: 3 differences between new and old',
  ])
  t.same(problemsIn({ refused: 'The group new gets no requests: old schema' }), [
    'warning GatewayGroupRefused groups of default: The group new gets no requests: old schema',
  ])
  t.same(problemsIn({ returned: 'latency' }), [
    'warning GatewayShiftReturned groups of default: all requests have returned from new to old (latency)',
  ])
  t.same(problemsIn({ returned: 'errors', finding: '5 of 9 requests failed' }), [
    'warning GatewayShiftReturned groups of default: all requests have returned from new to old (5 of 9 requests failed)',
  ])
  t.end()
})
