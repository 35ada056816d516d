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
    help: 'Number of requests that the gateway itself refused, by stage.',
    registry,
  })
  const cache = createReadableCounts({
    name: 'gateway_cache_requests_total',
    labels: ['tier', 'result'],
    help: 'Number of cache lookups and changes, by tier and result.',
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
      'Number of authentications of requests, by result and by method of authentication.',
    ),
    renewal: counter(
      'gateway_auth_renewals_total',
      ['engine', 'result'],
      'Number of renewals of remembered credentials and tokens in the background, by result.',
    ),
    /** The `plan` is one of `denied`, `rewrite`, `union` and `scan`. */
    listPlan: counter(
      'gateway_list_plans_total',
      ['operation', 'plan'],
      'Number of restricted lists and counts, by the plan with which their items were read.',
    ),
    listItems: counter(
      'gateway_list_items_total',
      ['operation', 'result'],
      'Number of items that were read for restricted lists and counts, by whether the caller may see them.',
    ),
    queryChange: counter(
      'gateway_queries_changed_total',
      ['engine', 'operation', 'rule'],
      'Number of requests whose query string or body a rule changed instead of refusing the request.',
    ),
    responseRestricted: counter(
      'gateway_responses_restricted_total',
      ['engine', 'rule'],
      'Number of responses of an engine to which a rule added headers that keep browsers from running their content.',
    ),
    comparison: counter(
      'gateway_decisions_compared_total',
      ['engine', 'operation', 'result'],
      'Number of requests in report mode whose decision was compared with the response of an engine that decides itself.',
    ),
    idempotent: counter(
      'gateway_idempotent_requests_total',
      ['engine', 'result'],
      'Number of requests with an Idempotency-Key, by the stored outcome. Also counts outcomes that were released or not stored.',
    ),
  }
}

function createOtherCounters(registry: Registry) {
  const counter = createCounter(registry)
  return {
    ejection: counter(
      'gateway_node_ejections_total',
      ['engine', 'node', 'reason'],
      'Number of ejections of a node, by reason.',
    ),
    comparedResponses: counter(
      'gateway_responses_compared_total',
      ['engine', 'operation', 'result', 'kind'],
      'Number of reads whose responses from two groups of nodes were compared, by result.',
    ),
    shiftReturned: counter(
      'gateway_shift_returns_total',
      ['engine', 'reason', 'operation'],
      'Number of times that all requests returned to the other group of nodes, by reason and by the operation that failed.',
    ),
    /** The `tool` is empty for a name that no tool has. */
    toolCall: counter(
      'gateway_mcp_calls_total',
      ['engine', 'tool', 'result'],
      'Number of calls of tools through the Model Context Protocol, by result.',
    ),
    pollEnded: counter(
      'gateway_long_polls_ended_total',
      ['engine', 'reason'],
      'Number of long polls that ended, by reason.',
    ),
    defaultRecord: counter(
      'gateway_default_records_total',
      ['engine', 'result'],
      'Number of authorization records that the gateway wrote or removed at the engine as a secured engine does, by result.',
    ),
    pollUnlocked: counter(
      'gateway_long_polls_unlocked_total',
      ['engine', 'result'],
      'Number of tasks that were locked for a disconnected client, by the result of the unlock.',
    ),
    pollNudge: counter(
      'gateway_long_polls_nudges_total',
      ['engine', 'result'],
      'Number of requests that make a node check its long polls for new tasks, by result: ok, failed, skipped.',
    ),
    reload: counter(
      'gateway_config_reload_total',
      ['result'],
      'Number of reloads of the configuration, by result.',
    ),
    sharedCount: counter(
      'gateway_shared_counts_total',
      ['engine', 'result'],
      'Number of counts that may share a response of the engine, by result.',
    ),
    cachePurge: counter(
      'gateway_cache_purges_total',
      ['result'],
      'Number of purges of the cache through the admin listener, by result.',
    ),
    invalidMessage: counter(
      'gateway_redis_messages_invalid_total',
      [],
      'Number of times that users and records were read again because Redis delivered messages that no gateway signed, or repeated ones.',
    ),
    redisPause: counter(
      'gateway_redis_pauses_total',
      ['channel'],
      'Number of times that the gateway stopped to read the messages of Redis because too many were invalid, by channel.',
    ),
    ceiling: counter(
      'gateway_ceiling_requests_total',
      ['engine', 'ceiling', 'result'],
      'Number of decisions about requests of callers with a ceiling, by ceiling and result.',
    ),
    webSocketRefused: counter(
      'gateway_websockets_refused_total',
      ['engine', 'reason'],
      'Number of WebSocket handshakes of clients that were not accepted, by reason.',
    ),
    webSocketEnded: counter(
      'gateway_websockets_ended_total',
      ['engine', 'reason'],
      'Number of WebSockets that were closed, by reason.',
    ),
    linesLost: counter(
      'gateway_log_lines_lost_total',
      ['stream'],
      'Number of lines that were lost because the log or the audit file could not be written.',
    ),
    spansExported: counter(
      'gateway_trace_spans_exported_total',
      [],
      'Number of spans that a collector accepted.',
    ),
    spansDropped: counter(
      'gateway_trace_spans_dropped_total',
      ['reason'],
      'Number of spans that were dropped because the queue was full or an export failed.',
    ),
    workerRestart: counter(
      'gateway_worker_restarts_total',
      ['reason'],
      'Number of worker restarts, by the way in which the worker ended.',
    ),
  }
}

function createCounter(registry: Registry) {
  return <L extends string>(name: `gateway_${string}_total`, labels: readonly L[], help: string) =>
    createCounts({ name, labels, help, registry })
}
