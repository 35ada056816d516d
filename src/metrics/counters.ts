import type { Registry } from 'prom-client'
import { createCounts, createReadableCounts } from './series.ts'

/**
 * Creates all counters, except the counter of attempts at nodes, which are also timed. docs/metrics.md explains the counters to
 * operators.
 */
export function createCounters(registry: Registry) {
  const refusals = createReadableCounts({
    name: 'gateway_refusals_total',
    labels: ['engine', 'operation', 'stage', 'reason'],
    help: 'Requests that the gateway itself refused, by stage.',
    registry,
  })
  const cache = createReadableCounts({
    name: 'gateway_cache_requests_total',
    labels: ['tier', 'result'],
    help: 'Cache requests and changes, by tier and result.',
    registry,
  })
  return {
    counters: {
      /** The `reason` is a `GW_…` code, or the status of the engine's refusal. */
      refusal: refusals.count,
      cache: cache.count,
      ...createRequestCounters(registry),
      ...createOtherCounters(registry),
    },
    read: { refusals: refusals.read, cache: cache.read },
  }
}

/**
 * The counters. Each call counts one event. Label values are names from the table, the configuration and the code, never ids,
 * users, paths or messages.
 */
export type Counters = ReturnType<typeof createCounters>['counters']

function createRequestCounters(registry: Registry) {
  const counter = createCounter(registry)
  return {
    authentication: counter(
      'gateway_auth_total',
      ['engine', 'result', 'method'],
      'Credentials by result, and by how the caller wanted to be authenticated.',
    ),
    /** The `plan` is one of `none`, `narrowed`, `parts` and `filter`. */
    rowsPlan: counter(
      'gateway_rows_plan_total',
      ['operation', 'plan'],
      'Restricted lists and counts, by how their rows were asked for.',
    ),
    rowsRead: counter(
      'gateway_rows_read_total',
      ['operation', 'result'],
      'Rows that were read for restricted lists and counts, shown or left out.',
    ),
    idempotent: counter(
      'gateway_idempotent_requests_total',
      ['engine', 'result'],
      'Requests with an Idempotency-Key by stored outcome, and outcomes that were released or not stored.',
    ),
  }
}

function createOtherCounters(registry: Registry) {
  const counter = createCounter(registry)
  return {
    ejection: counter(
      'gateway_node_ejections_total',
      ['engine', 'node', 'reason'],
      'Ejections of a node, by reason.',
    ),
    pollEnded: counter(
      'gateway_long_polls_ended_total',
      ['engine', 'reason'],
      'Long polls by how they ended for their clients.',
    ),
    pollUnlocked: counter(
      'gateway_long_polls_unlocked_total',
      ['engine', 'result'],
      'Tasks that were locked for a disconnected client, by whether they were unlocked.',
    ),
    pollNudge: counter(
      'gateway_long_polls_nudges_total',
      ['engine', 'result'],
      'Requests that make a node check its long polls for new tasks, by result: ok, failed, skipped.',
    ),
    reload: counter('gateway_config_reload_total', ['result'], 'Reloads of the configuration, by result.'),
    gaugeFailure: counter(
      'gateway_engine_gauges_failures_total',
      ['engine', 'query'],
      'Questions for the gauges of an engine that were not answered.',
    ),
    linesLost: counter(
      'gateway_log_lines_lost_total',
      ['stream'],
      'Lines that were lost because the log or the audit file could not be written for too long.',
    ),
    spansExported: counter('gateway_trace_spans_exported_total', [], 'Spans that a collector has taken.'),
    spansDropped: counter(
      'gateway_trace_spans_dropped_total',
      ['reason'],
      'Spans that were dropped, because the queue was full or because an export failed.',
    ),
    workerRestart: counter(
      'gateway_worker_restarts_total',
      ['reason'],
      'Restarts of workers, by how they ended.',
    ),
  }
}

function createCounter(registry: Registry) {
  return <L extends string>(name: `gateway_${string}_total`, labels: readonly L[], help: string) =>
    createCounts({ name, labels, help, registry })
}
