import type { Registry } from 'prom-client'
import { createCounts } from './series.ts'

/** All counters, but that of tries at nodes, which are timed as well. docs/metrics.md tells operators what they mean. */
export function createCounters(registry: Registry) {
  return { ...createRequestCounters(registry), ...createOtherCounters(registry) }
}

/** Each counts one event. Label values are names of the table, the configuration and the code: never ids, users, paths or messages. */
export type Counters = ReturnType<typeof createCounters>

function createRequestCounters(registry: Registry) {
  const counter = createCounter(registry)
  return {
    authentication: counter('gateway_auth_total', ['engine', 'result'], 'Credentials by verdict.'),
    /** `reason`: a `GW_…` code, or the status of the engine's verdict. */
    refusal: counter(
      'gateway_refusals_total',
      ['engine', 'operation', 'stage', 'reason'],
      'Requests that the gateway itself turned away, by stage.',
    ),
    cache: counter(
      'gateway_cache_requests_total',
      ['tier', 'result'],
      'What the cache was asked and did, by tier.',
    ),
    idempotent: counter(
      'gateway_idempotent_requests_total',
      ['engine', 'result'],
      'Requests with an Idempotency-Key by what was found under it, and outcomes that were released or not kept.',
    ),
  }
}

function createOtherCounters(registry: Registry) {
  const counter = createCounter(registry)
  return {
    ejection: counter(
      'gateway_node_ejections_total',
      ['engine', 'node', 'reason'],
      'How often a node was taken to be ill, by what was seen of it.',
    ),
    pollEnded: counter(
      'gateway_long_polls_ended_total',
      ['engine', 'reason'],
      'Long polls by how they ended for their clients.',
    ),
    pollUnlocked: counter(
      'gateway_long_polls_unlocked_total',
      ['engine', 'result'],
      'Tasks that were locked for a client that had gone, by whether they were given back.',
    ),
    reload: counter(
      'gateway_config_reload_total',
      ['result'],
      'Readings of the configuration after the first, by whether it was put in force.',
    ),
    linesLost: counter(
      'gateway_log_lines_lost_total',
      ['stream'],
      'Lines that were lost because the log or the audit file took none for too long.',
    ),
    workerRestart: counter(
      'gateway_worker_restarts_total',
      ['reason'],
      'Workers that have ended and were started again, by how they ended.',
    ),
  }
}

function createCounter(registry: Registry) {
  return <L extends string>(name: `gateway_${string}_total`, labels: readonly L[], help: string) =>
    createCounts({ name, labels, help, registry })
}
