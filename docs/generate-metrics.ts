import { readFileSync, writeFileSync } from 'node:fs'
import { build } from '../src/assembly/build.ts'
import { loadConfig } from '../src/config/config.ts'
import { createLogger } from '../src/log.ts'
import type { MetricDescription } from '../src/metrics/registry.ts'
import { createReload } from '../src/server/reload.ts'
import { WorkerPool } from '../src/workers/worker-pool.ts'

/** The page that is made from the registry. */
export const METRICS_PAGE = new URL('metrics.md', import.meta.url)

const INTRODUCTION = `# Metrics

Made by \`npm run docs:metrics\` from the metrics that the gateway registers; a test fails when it differs.

\`GET /metrics\` at the admin address (with \`admin.token\`, as \`Authorization: Bearer\`), in Prometheus' format. With \`workers\` the
numbers of all of them are put together (see [architecture](architecture.md)). Labels are names of the table, of the configuration and
of the code: \`engine\` and \`node\` as configured (for nodes of an application \`engine\` is its prefix), \`operation\` the operationId, \`passthrough\` for what goes to an application, empty where none was found. No label ever is an id, a user
or a path, and no metric has more than 20,000 series. [Runbooks](runbooks/README.md) has the alerts on them, and
[dashboard.json](../helm/engine-gateway/files/dashboard.json) shows them in Grafana.
`

/** Values of labels, and when to look. */
const NOTES: Readonly<Record<string, string>> = {
  camunda_external_tasks_oldest_timestamp_seconds:
    '[Gauges](configuration/gauges.md). Its age is `time() -` this',
  camunda_external_tasks_waiting:
    'As before. `topic`: `_other` for those beyond the bound. It grows: [tasks pile up](runbooks/GatewayTaskBacklogGrows.md)',
  camunda_incidents_open:
    '`incident_type`: `failedJob`, `failedExternalTask`, `_other`. It rises: [incidents](runbooks/GatewayIncidentsRise.md)',
  camunda_jobs_executable: 'It grows: the job executors do less than is due',
  camunda_jobs_out_of_retries:
    'It rises: somebody has to [look at these jobs](runbooks/GatewayIncidentsRise.md)',
  camunda_last_deployment_timestamp_seconds: 'It is later than you know of',
  camunda_process_instances_running: '`process_definition_key`: `_other` for those beyond the bound',
  gateway_auth_total:
    '`result`: `remembered`, `verified`, `failed`, `missing`, `throttled`, `open` (none are needed). `method`: `basic`, `certificate`, `oidc`, `session`, `bearer` (a token of no known issuer), `none`. Of `basic`, `failed` or `throttled` rises: [somebody guesses](runbooks/GatewayPasswordGuessing.md), or a client has an old password',
  gateway_cache_requests_total:
    'What `memory`, `redis` and the `upstream` behind them were asked and did. [The cache is ineffective](runbooks/GatewayCacheIneffective.md): `upstream` fills nearly all. `redis`, `corrupt`: it holds what no gateway has written',
  gateway_config_applied_timestamp_seconds: 'It is later than you know of',
  gateway_config_last_reload_successful: '0: [a configuration is refused](runbooks/GatewayConfigRefused.md)',
  gateway_config_reload_total: 'Readings after the first. `result`: `applied`, `refused`',
  gateway_engine_gauges_elected: 'The sum over all replicas is not 1',
  gateway_engine_gauges_failures_total: '`query`: the question. It rises: the log says why',
  gateway_engine_gauges_timestamp_seconds: 'It is minutes ago',
  gateway_idempotent_requests_total:
    '[Idempotency-Key](idempotency.md). `unavailable` or `unstored`: [Redis is away](runbooks/GatewayRedisDown.md). `unreadable`: it holds what no gateway has written, or has not signed',
  gateway_info: '[Two versions](runbooks/GatewayVersionSkew.md) for long',
  gateway_log_lines_lost_total:
    '`stream`: `log`, `audit`. Nothing took them, and 8 MiB waited. It rises: [lines are lost](runbooks/GatewayLinesLost.md)',
  gateway_long_polls:
    '`state`: `open` at a node, `waiting` here, `abandoned` by their clients. `waiting`: [long polls](runbooks/GatewayLongPollsParked.md)',
  gateway_long_polls_ended_total:
    '`reason`: `answered`, `time`, `left`, `drain`, `withdrawn`, `overload`, `failed`. `withdrawn`: [permissions changed](waiting-decisions.md#long-polls). `overload` or `failed` rises',
  gateway_long_polls_nudges_total:
    '[Several nodes](configuration/long-polls.md#several-nodes). `failed` rises: the engine refuses the credentials of the gateway, or has too many polls. `skipped`: the node is ejected or at its limit of requests',
  gateway_long_polls_unlocked_total:
    '`result`: `unlocked`, `failed`, `dropped`. Not `unlocked`: such tasks wait for their lock to end',
  gateway_mode: '`section`: `authorization`, `validation`. `mode` is `report` or `off`: nothing is refused',
  gateway_node_concurrency_limit:
    'It stays far below `limits.connections`: the node is too slow for its load',
  gateway_node_deployments_missing:
    'With `deploymentAware`. Not 0 after a roll-out: [deployment skew](runbooks/GatewayDeploymentSkew.md)',
  gateway_certificate_expiry_timestamp_seconds:
    '`certificate`: a key of the configuration, as `listen.tls.cert`, or the URL of a node. It comes near the present: [a certificate ends](runbooks/GatewayCertificateEnding.md)',
  gateway_tls_files_valid:
    '`section`: a key of the configuration, as `listen.tls`. 0: [the files cannot be taken](runbooks/GatewayTlsFilesInvalid.md)',
  gateway_node_ejections_total:
    'It rises again and again: [a node is ejected](runbooks/GatewayNodeEjected.md)',
  gateway_node_healthy:
    '0: [a node is ejected](runbooks/GatewayNodeEjected.md). 0 for all of an engine: [the engine is down](runbooks/GatewayEngineDown.md)',
  gateway_pressure: '`kind`: `event-loop`, `heap`, `memory`. 1: [overload](runbooks/GatewayOverloaded.md)',
  gateway_pressure_ratio:
    '`kind` as before. `heap` or `memory` stays above 0.85: [memory](runbooks/GatewayMemoryHigh.md)',
  gateway_redis_up: '0: [Redis is away](runbooks/GatewayRedisDown.md)',
  gateway_refusals_total:
    '`reason` is a `GW_…` code ([errors](errors.md)), or the status of what a secured engine would say; a `stage` with `-report` refused nothing. It jumps: [refusals](runbooks/GatewayRefusalsJump.md). `GW_OVERLOADED`: [overload](runbooks/GatewayOverloaded.md)',
  gateway_requests_in_flight: 'Long polls included. It grows and does not fall',
  gateway_rows_plan_total:
    '`plan`: `none`, `narrowed`, `parts`, `filter` ([plans](decisions/0011-row-plans.md)). `filter` is most of what an operation is asked: its callers or queries are such as [no query says](deviations.md#rows-that-are-filtered)',
  gateway_rows_read_total:
    '`result`: `shown` (visible; a count shows only their number), `hidden`. `hidden` grows much faster than `shown`',
  gateway_source_age_seconds: 'It comes near `staleAfter`',
  gateway_source_up:
    '`source`: `identity`, `records`, `issuer NAME`. 0: [a source is down](runbooks/GatewaySourceDown.md)',
  gateway_trace_spans_dropped_total:
    '[Traces](traces.md#when-spans-are-lost). `reason`: `queue`, `export`. It rises: the log says why; requests do not notice',
  gateway_trace_spans_exported_total:
    'Beside `gateway_trace_spans_dropped_total`: how much of what was recorded arrives',
  gateway_upstream_attempts_total:
    '`result`: `ok`, `refused`, `timeout`, `reset` (also where a node closed an idle connection as it was used), `invalid`, `cancelled`. Anything but `ok` and `cancelled`',
  gateway_upstream_queue: 'Not 0 for long: [backlog](runbooks/GatewayBacklog.md)',
  gateway_upstream_queue_standing:
    '1: they may wait for `limits.queue.target` at most. 1 for a minute: [overload](runbooks/GatewayOverloaded.md)',
  gateway_upstream_queue_wait_seconds:
    '`result`: `sent`, `refused` (also at a full queue), `left` by their client. `refused` rises',
  gateway_worker_restarts_total:
    '`reason`: `signal`, `exit`, `silent`. It rises: [worker restarts](runbooks/GatewayWorkerRestarts.md)',
  gateway_workers:
    'With `workers` only. Fewer than configured: [worker restarts](runbooks/GatewayWorkerRestarts.md)',
  http_client_request_duration_seconds: 'One node is slower than the others',
  http_server_request_duration_seconds:
    '5xx rise: [server errors](runbooks/GatewayServerErrors.md). The upper quantiles rise',
}

/** Every metric that a gateway may export, with and without workers. Nothing is asked, and nothing listens. */
export async function describeMetrics(): Promise<readonly MetricDescription[]> {
  const config = loadConfig(new URL('../config/gateway.yaml', import.meta.url).pathname)
  const log = createLogger({ level: 'silent' })
  const { parts, enter, close } = await build({ config, log, version: '' })
  const { metrics } = parts
  enter()
  createReload({
    load: () => config,
    current: () => config,
    warnings: () => [],
    replace: async () => {},
    reopenAudit: async () => {},
    metrics,
    log,
  })
  void new WorkerPool({ config, fork, onListening: () => {}, metrics, log })
  const descriptions = metrics.describe()
  await close()
  return descriptions
}

function fork(): never {
  throw new Error('no worker is started')
}

export async function metricsPage(): Promise<string> {
  const all = await describeMetrics()
  const own = all.filter(({ name }) => !isOfProcess(name))
  const unknown = Object.keys(NOTES).filter((name) => own.every((metric) => metric.name !== name))
  if (unknown.length > 0) throw new Error(`there is no metric ${unknown.join(', ')}`)
  const rows = own.map(
    (metric) => `| ${startOf(metric)} | ${labelsOf(metric)} | ${metric.help} | ${noteOf(metric)} |`,
  )
  const ofProcess = all
    .filter(({ name }) => isOfProcess(name))
    .map((metric) => `| ${startOf(metric)} | ${labelsOf(metric)} | ${metric.help} |`)
  return [
    INTRODUCTION,
    '| metric | type | labels | tells | values, and when to look |',
    '|---|---|---|---|---|',
    ...rows,
    `\n## Of the process\n`,
    "The library's own, those apart whose names `promtool check metrics` refuses. `process_start_time_seconds` with `workers` is the primary's.\n",
    '| metric | type | labels | tells |',
    '|---|---|---|---|',
    ...ofProcess,
    '',
  ].join('\n')
}

function isOfProcess(name: string): boolean {
  return /^(process|nodejs)_/.test(name)
}

function startOf({ name, type }: MetricDescription): string {
  return `\`${name}\` | ${type}`
}

function labelsOf({ labels }: MetricDescription): string {
  return labels.length === 0 ? '–' : labels.map((label) => `\`${label}\``).join(', ')
}

/** @throws Error for a metric that nobody has explained */
function noteOf({ name }: MetricDescription): string {
  const note = NOTES[name]
  if (note === undefined) throw new Error(`${name} has no note in docs/generate-metrics.ts`)
  return note
}

if (import.meta.main) {
  const page = await metricsPage()
  writeFileSync(METRICS_PAGE, page)
  process.stdout.write(`${readFileSync(METRICS_PAGE, 'utf8').split('\n').length} lines\n`)
}
