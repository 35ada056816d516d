import type { Readiness } from '../metrics/admin-listener.ts'
import type { EngineStatus, ProcessStatus } from './process-status.ts'

/** A problem that needs the attention of an operator. */
export interface Problem {
  readonly text: string
  /** `outage`: requests fail now. `warning`: requests are processed, but something needs attention. */
  readonly kind: 'outage' | 'warning'
  /** The alert whose runbook describes the problem. Null if no runbook does. */
  readonly runbook: string | null
}

interface ProblemSources {
  readonly sum: Omit<ProcessStatus, 'traffic'>
  readonly workers: { readonly answering: number; readonly configured: number }
  readonly readiness: Readiness
  readonly configuration: { readonly warnings: readonly string[] }
}

/** Maximum number of problems of each kind. */
const MAX_PROBLEMS = 100

/** Returns the problems, outages first. */
export function problemsOf({ sum, workers, readiness, configuration }: ProblemSources): readonly Problem[] {
  const missing = workers.configured - workers.answering
  const all: readonly Problem[] = [
    ...sum.pressure.map(pressureProblem),
    ...(missing > 0
      ? [warning(`workers: ${missing} of ${workers.configured} do not respond`, 'GatewayWorkerRestarts')]
      : []),
    ...(sum.redis === 'down' ? [warning('Redis: does not respond', 'GatewayRedisDown')] : []),
    ...checkProblems(readiness),
    ...sum.engines.flatMap(({ name, nodes }) =>
      nodes
        .filter(({ isDrainedByCommand }) => isDrainedByCommand)
        .map(({ node }) => warning(`node ${node} of ${name}: drained by a command`, null)),
    ),
    ...sum.engines.flatMap(({ name, groups }) => groupProblems(name, groups)),
    ...configuration.warnings.map((text) => warning(text, null)),
  ]
  const outages = all.filter(({ kind }) => kind === 'outage')
  return [outages, all.filter(({ kind }) => kind === 'warning')].flatMap((some) =>
    some.slice(0, MAX_PROBLEMS),
  )
}

function warning(text: string, runbook: string | null): Problem {
  return { text, kind: 'warning', runbook }
}

function groupProblems(engine: string, groups: EngineStatus['groups']): readonly Problem[] {
  if (groups === null) return []
  const { to, from, returned, finding, refused, compared } = groups
  const different = compared?.results['different'] ?? 0
  return [
    ...(refused === null ? [] : [warning(`groups of ${engine}: ${refused}`, 'GatewayGroupRefused')]),
    ...(returned === null
      ? []
      : [
          warning(
            `groups of ${engine}: all requests have returned from ${to} to ${from} (${finding ?? returned})`,
            'GatewayShiftReturned',
          ),
        ]),
    ...(different === 0
      ? []
      : [
          warning(
            `groups of ${engine}: ${different} differences between ${to} and ${from}`,
            'GatewayDifferencesFound',
          ),
        ]),
  ]
}

function pressureProblem(kind: string): Problem {
  const runbook = kind === 'event-loop' ? 'GatewayEventLoopLate' : 'GatewayMemoryHigh'
  return { text: `new requests are refused: ${kind}`, kind: 'outage', runbook }
}

/** The checks of `/readyz?verbose` by the start of their name and a part of their result. The first match counts. */
const CHECKS: readonly (Pick<Problem, 'kind' | 'runbook'> & {
  readonly name: RegExp
  readonly result?: RegExp
})[] = [
  { name: /^configuration$/, kind: 'warning', runbook: 'GatewayConfigRefused' },
  { name: /^nodes of /, result: /^(none|all) /, kind: 'outage', runbook: 'GatewayEngineDown' },
  { name: /^nodes of /, kind: 'warning', runbook: 'GatewayNodeEjected' },
  { name: /^(identity|records|issuer .*) of /, kind: 'warning', runbook: 'GatewaySourceDown' },
  { name: /^(authorization|validation) of /, kind: 'warning', runbook: 'GatewayNotEnforcing' },
]

function checkProblems({ ready, checks }: Readiness): readonly Problem[] {
  const workersOf = new Map<string, { readonly workers: string[]; readonly problem: Problem }>()
  for (const [check, result] of Object.entries(checks)) {
    if (result === 'ok') continue
    const [, worker, name = ''] = /^(?:worker (\d+): )?(.*?):?$/.exec(check) ?? []
    const { kind, runbook } = CHECKS.find(
      (one) => one.name.test(name) && one.result?.test(result) !== false,
    ) ?? {
      kind: ready ? 'warning' : 'outage',
      runbook: null,
    }
    const problem: Problem = { text: `${name}: ${result}`, kind, runbook }
    const same = workersOf.get(problem.text) ?? { workers: [], problem }
    if (worker !== undefined) same.workers.push(worker)
    workersOf.set(problem.text, same)
  }
  return [...workersOf.values()].map(({ workers, problem }) =>
    workers.length === 0
      ? problem
      : {
          ...problem,
          text: `${problem.text} (${workers.length === 1 ? 'worker' : 'workers'} ${workers.join(', ')})`,
        },
  )
}
