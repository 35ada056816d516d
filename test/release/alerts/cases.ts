/** Series in promtool's notation, with one value for each half minute: `'0+2x40'` is 0, then increases by 2 for 40 times. */
type Series = Readonly<Record<string, string>>

type AlertLabels = Readonly<Record<string, string>>

export interface AlertCase {
  readonly fires: Series
  /** The minute at which the alert fires. It does not fire one minute earlier. */
  readonly atMinute: number
  /** Labels of the alert, in addition to its name and severity. A list if several alerts fire at the same time. */
  readonly labels: AlertLabels | readonly AlertLabels[]
  /** Series just below the threshold, for which the alert never fires. */
  readonly quiet: Series
}

const AT = 'job="gw",instance="a:9090"'
const AT_LABELS = { job: 'gw', instance: 'a:9090' }
const HEALTHY = (node: string) => `gateway_node_healthy{${AT},engine="default",node="${node}"}`
const ENGINE_AT_LABELS = { ...AT_LABELS, engine: 'default' }
const JOB_LABELS = { job: 'gw' }
const ENGINE_LABELS = { job: 'gw', engine: 'default' }
const REFUSALS = (stage: string, reason: string) =>
  `gateway_refusals_total{${AT},engine="default",operation="getTasks",stage="${stage}",reason="${reason}"}`
const REQUESTS = (status: number) =>
  `http_server_request_duration_seconds_count{${AT},engine="default",operation="getTasks",http_request_method="GET",http_response_status_code="${status}"}`
const CERTIFICATE = (certificate: string) =>
  `gateway_certificate_expiry_timestamp_seconds{${AT},certificate="${certificate}"}`
const INCIDENTS = (engine: string, type: string, instance = 'a:9090') =>
  `camunda_incidents_open{job="gw",instance="${instance}",engine="${engine}",incident_type="${type}"}`
const FAILED_JOBS = (engine: string) => `camunda_jobs_out_of_retries{${AT},engine="${engine}"}`
const DIFFERENT = (operation: string) =>
  `gateway_responses_compared_total{${AT},engine="default",operation="${operation}",result="different",kind=""}`
const SHARE = (engine: string, group: string, kind: string) =>
  `gateway_shift_share{${AT},engine="${engine}",group="${group}",kind="${kind}"}`
const GROUP_REFUSED = `gateway_group_refused{${AT},engine="default",group="new"}`
const FORTNIGHT_SECONDS = 14 * 24 * 3600
const AUTHENTICATIONS = (method: string, result: string) =>
  `gateway_auth_total{${AT},engine="default",result="${result}",method="${method}"}`
const BUCKET = (operation: string, le: string) =>
  `http_server_request_duration_seconds_bucket{${AT},engine="default",operation="${operation}",http_request_method="GET",http_response_status_code="200",le="${le}"}`
const DURATIONS = (operation: string, { all, fast }: { readonly all: string; readonly fast: string }) => ({
  [BUCKET(operation, '2.5')]: fast,
  [BUCKET(operation, '5')]: all,
  [BUCKET(operation, '+Inf')]: all,
  [`http_server_request_duration_seconds_count{${AT},engine="default",operation="${operation}",http_request_method="GET",http_response_status_code="200"}`]:
    all,
})
const MODE = (mode: string, instance = 'a:9090') =>
  `gateway_mode{job="gw",instance="${instance}",engine="default",section="authorization",mode="${mode}"}`
const KEYED = (result: string) =>
  `gateway_idempotent_requests_total{${AT},engine="default",result="${result}"}`
const QUEUE = (engine: string) => `gateway_upstream_queue{${AT},engine="${engine}"}`
const SLOW = (engine: string, state: string) =>
  `gateway_slow_requests{${AT},engine="${engine}",state="${state}"}`
const CACHE = (tier: string, result: string) =>
  `gateway_cache_requests_total{${AT},tier="${tier}",result="${result}"}`

/** The case of each alert, by name. */
export const CASES: Readonly<Record<string, AlertCase>> = {
  GatewayDown: {
    fires: { [`gateway_info{${AT},version="1"}`]: '1x10 stale' },
    atMinute: 7.5,
    labels: {},
    quiet: { [`gateway_info{${AT},version="1"}`]: '1x20 _x2 1x300' },
  },
  GatewayEngineDown: {
    fires: { [HEALTHY('http://a')]: '1x10 0x20', [HEALTHY('http://b')]: '1x10 0x20' },
    atMinute: 6.5,
    labels: ENGINE_AT_LABELS,
    quiet: { [HEALTHY('http://a')]: '1x300', [HEALTHY('http://b')]: '1x10 0x300' },
  },
  GatewayNodeEjected: {
    fires: { [HEALTHY('http://a')]: '1x40 0x40' },
    atMinute: 25.5,
    labels: { ...ENGINE_AT_LABELS, node: 'http://a' },
    // The second node is drained soon after its ejection.
    quiet: { [HEALTHY('http://a')]: '1x40 0x3 1x40', [HEALTHY('http://b')]: '1x40 0x6 stale' },
  },
  GatewayServerErrors: {
    fires: { [REQUESTS(200)]: '0+94x80', [REQUESTS(502)]: '0x20 0+6x60' },
    atMinute: 20,
    labels: ENGINE_LABELS,
    quiet: { [REQUESTS(200)]: '0+96x60', [REQUESTS(502)]: '0+4x60' },
  },
  GatewayLatencyHigh: {
    fires: DURATIONS('getTasks', { all: '0+60x80', fast: '0+60x20 1254+54x60' }),
    atMinute: 23,
    labels: ENGINE_LABELS,
    quiet: {
      ...DURATIONS('getTasks', { all: '0+60x80', fast: '0+58x80' }),
      ...DURATIONS('fetchAndLock', { all: '0+60x80', fast: '0x80' }),
      ...DURATIONS('passthrough', { all: '0+60x80', fast: '0x80' }),
    },
  },
  GatewayOverloaded: {
    fires: { [REFUSALS('admit', 'GW_OVERLOADED')]: '0x20 0+4x40' },
    atMinute: 15.5,
    labels: ENGINE_LABELS,
    quiet: {
      [REFUSALS('admit', 'GW_OVERLOADED')]: '0+2x40',
      [REFUSALS('admit', 'GW_RATE_LIMITED')]: '0+60x40',
    },
  },
  GatewayShiftReturned: {
    fires: { [`gateway_shift_returned{${AT},engine="default"}`]: '0x4 1x40' },
    atMinute: 2.5,
    labels: ENGINE_AT_LABELS,
    quiet: { [`gateway_shift_returned{${AT},engine="default"}`]: '0x80' },
  },
  GatewayGroupRefused: {
    fires: { [GROUP_REFUSED]: '0x4 1x40' },
    atMinute: 4.5,
    labels: { ...ENGINE_AT_LABELS, group: 'new' },
    quiet: { [GROUP_REFUSED]: '1x2 0x80' },
  },
  GatewayDifferencesFound: {
    fires: { [DIFFERENT('getTasks')]: '_x4 1x200' },
    atMinute: 2.5,
    labels: ENGINE_AT_LABELS,
    quiet: {
      [DIFFERENT('getTasks')]: '0x200',
      [`gateway_responses_compared_total{${AT},engine="default",operation="getTasks",result="known",kind="hal-links"}`]:
        '0+5x200',
    },
  },
  GatewayShiftIncomplete: {
    fires: {
      [SHARE('default', 'new', 'reads')]: '0x4 1x8700',
      [SHARE('default', 'new', 'writes')]: '0x8704',
      [SHARE('reports', 'new', 'reads')]: '0x4 0.25x8700',
      [SHARE('reports', 'new', 'writes')]: '0x4 0.25x8700',
    },
    atMinute: 4322.5,
    labels: ['default', 'reports'].map((engine) => ({ ...AT_LABELS, engine })),
    quiet: {
      [SHARE('default', 'new', 'reads')]: '1x8704',
      [SHARE('default', 'new', 'writes')]: '1x8704',
      [SHARE('default', 'old', 'reads')]: '0x8704',
      [SHARE('default', 'old', 'writes')]: '0x8704',
    },
  },
  GatewayBacklog: {
    fires: {
      [QUEUE('default')]: '0x4 1x40',
      [SLOW('default', 'waiting')]: '0x60',
      [QUEUE('reports')]: '0x60',
      [SLOW('reports', 'waiting')]: '0x4 1x40',
      // An application has no queue of slow operations.
      [QUEUE('/cockpit')]: '0x4 1x40',
    },
    atMinute: 7.5,
    labels: ['default', 'reports', '/cockpit'].map((engine) => ({ ...AT_LABELS, engine })),
    quiet: {
      [QUEUE('default')]: '9x8 0 9x8 0 9x8 0',
      [SLOW('default', 'waiting')]: '9x8 0 9x8 0 9x8 0',
      [SLOW('default', 'running')]: '9x60',
    },
  },
  GatewayTaskBacklogGrows: {
    fires: {
      [`camunda_external_tasks_waiting{${AT},engine="default",topic="mail"}`]: '50x40 151x80',
      'camunda_external_tasks_waiting{job="gw",instance="b:9090",engine="default",topic="mail"}':
        '_x60 151x60',
    },
    atMinute: 35.5,
    labels: { ...ENGINE_LABELS, topic: 'mail' },
    quiet: {
      [`camunda_external_tasks_waiting{${AT},engine="default",topic="mail"}`]: '50x40 150x80',
      [`camunda_external_tasks_waiting{${AT},engine="default",topic="bulk"}`]: '0x40 5000x28 0x80',
    },
  },
  GatewayIncidentsRise: {
    fires: {
      // Another replica takes over while the alert is pending.
      [INCIDENTS('default', 'failedJob')]: '5x40 20x10 stale',
      [INCIDENTS('default', 'failedJob', 'b:9090')]: '_x56 20x60',
      // This is one alert, not two.
      [INCIDENTS('both', 'failedJob')]: '0x40 50x80',
      [FAILED_JOBS('both')]: '0x40 50x80',
      // An engine that creates no incidents for failed jobs.
      [FAILED_JOBS('other')]: '0x40 11x80',
      [INCIDENTS('other', 'failedJob')]: '0x120',
    },
    atMinute: 30.5,
    labels: ['default', 'both', 'other'].map((engine) => ({ ...JOB_LABELS, engine })),
    quiet: {
      [INCIDENTS('started', 'failedJob')]: '_x40 500x100',
      [INCIDENTS('gap', 'failedJob')]: '500x40 _x30 500x60',
      [INCIDENTS('many', 'failedJob')]: '1000x40 1110x80',
      [INCIDENTS('passing', 'failedJob')]: '0x40 500x18 0x80',
      [INCIDENTS('told-apart', 'failedJob')]: '100x40 0x80',
      [INCIDENTS('told-apart', '_other')]: '_x40 100x80',
      [INCIDENTS('told-together', 'failedJob')]: '0x40 100x80',
      [INCIDENTS('told-together', '_other')]: '100x40 stale',
      [FAILED_JOBS('few')]: '0x40 10x80',
    },
  },
  GatewayRefusalsJump: {
    fires: { [REFUSALS('permit', '403')]: '0+3x180 540+90x40' },
    atMinute: 98,
    labels: ENGINE_LABELS,
    quiet: {
      [REFUSALS('permit', '403')]: '0+3x180 540+24x40',
      [REFUSALS('authenticate', '401')]: '0+3x180 540+900x40',
      [REFUSALS('permit-report', '403')]: '0+3x180 540+900x40',
    },
  },
  GatewayPasswordGuessing: {
    fires: { [`gateway_auth_total{${AT},engine="default",result="failed",method="basic"}`]: '0x20 0+16x60' },
    atMinute: 20.5,
    labels: ENGINE_LABELS,
    quiet: {
      [`gateway_auth_total{${AT},engine="default",result="failed",method="basic"}`]: '0+14x60',
      [`gateway_auth_total{${AT},engine="default",result="verified",method="basic"}`]: '0+900x60',
    },
  },
  GatewayTokensRefused: {
    fires: { [AUTHENTICATIONS('oidc', 'failed')]: '0x20 0+16x60' },
    atMinute: 20.5,
    labels: ENGINE_LABELS,
    quiet: {
      [AUTHENTICATIONS('oidc', 'failed')]: '0+14x60',
      [AUTHENTICATIONS('oidc', 'verified')]: '0+900x60',
      [AUTHENTICATIONS('basic', 'failed')]: '0+900x60',
    },
  },
  GatewayNotEnforcing: {
    fires: {
      [MODE('report')]: '_x4 1x160',
      [MODE('report', 'b:9090')]: '_x4 1x160',
      [MODE('enforce')]: '1x3',
    },
    atMinute: 62.5,
    labels: { ...ENGINE_LABELS, section: 'authorization', mode: 'report' },
    quiet: { [MODE('report')]: '1x118 stale', [MODE('enforce')]: '_x119 1x100', [MODE('engine')]: '1x220' },
  },
  GatewaySourceDown: {
    fires: { [`gateway_source_up{${AT},engine="default",source="records"}`]: '1x4 0x40' },
    atMinute: 4.5,
    labels: { ...ENGINE_AT_LABELS, source: 'records' },
    quiet: { [`gateway_source_up{${AT},engine="default",source="records"}`]: '1x4 0x2 1x40' },
  },
  GatewayConfigRefused: {
    fires: { [`gateway_config_last_reload_successful{${AT}}`]: '1x4 0x40' },
    atMinute: 3.5,
    labels: AT_LABELS,
    quiet: { [`gateway_config_last_reload_successful{${AT}}`]: '1x4 0 1x40' },
  },
  GatewayCertificateEnding: {
    // A case starts in 1970. At the tenth minute one of the replicas reports that two weeks are left.
    fires: {
      [CERTIFICATE('listen.tls.cert')]: `${FORTNIGHT_SECONDS + 600}x80`,
      'gateway_certificate_expiry_timestamp_seconds{job="gw",instance="b:9090",certificate="listen.tls.cert"}': `${FORTNIGHT_SECONDS + 7200}x80`,
      [CERTIFICATE('https://a/engine-rest')]: `${FORTNIGHT_SECONDS + 7200}x80`,
    },
    atMinute: 20.5,
    labels: { ...JOB_LABELS, certificate: 'listen.tls.cert' },
    quiet: {
      [CERTIFICATE('listen.tls.cert')]: `${FORTNIGHT_SECONDS + 7200}x240`,
      // The certificate is renewed within ten minutes.
      [CERTIFICATE('https://a/engine-rest')]: `86400x19 ${FORTNIGHT_SECONDS + 7200}x220`,
    },
  },
  GatewayTlsFilesInvalid: {
    fires: {
      [`gateway_tls_files_valid{${AT},section="listen.tls"}`]: '1x4 0x40',
      [`gateway_tls_files_valid{${AT},section="admin.tls"}`]: '1x60',
    },
    atMinute: 7.5,
    labels: { ...AT_LABELS, section: 'listen.tls' },
    quiet: { [`gateway_tls_files_valid{${AT},section="listen.tls"}`]: '1x4 0x8 1x40' },
  },
  GatewayRedisDown: {
    fires: { [`gateway_redis_up{${AT}}`]: '1x4 0x40' },
    atMinute: 4.5,
    labels: AT_LABELS,
    quiet: { [`gateway_redis_up{${AT}}`]: '1x4 0x2 1x40' },
  },
  GatewayIdempotencyFailing: {
    fires: { [KEYED('unavailable')]: '0x20 1x40', [KEYED('unreadable')]: '0x20 1x40' },
    atMinute: 10.5,
    labels: ['unavailable', 'unreadable'].map((result) => ({ ...ENGINE_LABELS, result })),
    quiet: { [KEYED('unavailable')]: '3x80', [KEYED('replayed')]: '0+9x80', [KEYED('unknown')]: '0+9x80' },
  },
  GatewayRedisRemovesKeys: {
    fires: { [`gateway_redis_removes_keys{${AT}}`]: '0x4 1x40', [KEYED('first')]: '0x4 1x40' },
    atMinute: 4.5,
    labels: JOB_LABELS,
    quiet: { [`gateway_redis_removes_keys{${AT}}`]: '1x80', [KEYED('replayed')]: '0+9x80' },
  },
  GatewayRedisCorrupt: {
    fires: { [CACHE('redis', 'corrupt')]: '0x20 1x40' },
    atMinute: 10.5,
    labels: JOB_LABELS,
    quiet: {
      [CACHE('redis', 'corrupt')]: '3x80',
      [CACHE('redis', 'miss')]: '0+9x80',
      [`gateway_redis_messages_invalid_total{${AT}}`]: '2x80',
      [`gateway_redis_pauses_total{${AT},channel="changes"}`]: '2x80',
    },
  },
  GatewayCacheIneffective: {
    fires: {
      [CACHE('memory', 'miss')]: '0x20 0+58x100',
      [CACHE('memory', 'hit')]: '0x20 0+2x100',
      [CACHE('upstream', 'filled')]: '0x20 0+58x100',
    },
    atMinute: 33.5,
    labels: JOB_LABELS,
    quiet: {
      [CACHE('memory', 'miss')]: '0+53x80',
      [CACHE('memory', 'hit')]: '0+7x80',
      [CACHE('upstream', 'filled')]: '0+53x80',
    },
  },
  GatewayLongPollsParked: {
    fires: { [`gateway_long_polls{${AT},engine="default",state="waiting"}`]: '0x4 1x60' },
    atMinute: 12.5,
    labels: { ...ENGINE_AT_LABELS, state: 'waiting' },
    quiet: {
      [`gateway_long_polls{${AT},engine="default",state="waiting"}`]: '1x18 0 1x18 0 1x18 0',
      [`gateway_long_polls{${AT},engine="default",state="open"}`]: '100x80',
    },
  },
  GatewayEventLoopLate: {
    fires: {
      [`nodejs_eventloop_lag_p99_seconds{${AT}}`]: '0.01x4 0.21x40',
      [`gateway_info{${AT},version="1"}`]: '1x80',
    },
    atMinute: 7.5,
    labels: AT_LABELS,
    quiet: {
      [`nodejs_eventloop_lag_p99_seconds{${AT}}`]: '0.01x4 0.2x40',
      'nodejs_eventloop_lag_p99_seconds{job="shop",instance="b:9090"}': '3x80',
      [`gateway_info{${AT},version="1"}`]: '1x80',
    },
  },
  GatewayMemoryHigh: {
    fires: { [`gateway_pressure_ratio{${AT},kind="memory"}`]: '0.5x4 0.86x60' },
    atMinute: 12.5,
    labels: { ...AT_LABELS, kind: 'memory' },
    quiet: {
      [`gateway_pressure_ratio{${AT},kind="memory"}`]: '0.85x80',
      [`gateway_pressure_ratio{${AT},kind="heap"}`]: '0.99x18 0.6 0.99x18 0.6 0.99x18 0.6',
      [`gateway_pressure_ratio{${AT},kind="event-loop"}`]: '0.99x80',
    },
  },
  GatewayLinesLost: {
    fires: { [`gateway_log_lines_lost_total{${AT},stream="audit"}`]: '0x4 1x10' },
    atMinute: 2.5,
    labels: { ...AT_LABELS, stream: 'audit' },
    quiet: { [`gateway_log_lines_lost_total{${AT},stream="audit"}`]: '7x80' },
  },
  GatewayLinesWaiting: {
    fires: { [`gateway_log_waiting_seconds{${AT},stream="audit"}`]: '0x4 11x10' },
    atMinute: 3.5,
    labels: { ...AT_LABELS, stream: 'audit' },
    quiet: { [`gateway_log_waiting_seconds{${AT},stream="audit"}`]: '10x80' },
  },
  GatewayDeploymentSkew: {
    fires: {
      [`gateway_node_deployments_missing{${AT},engine="default",node="http://a"}`]: '0x4 1x80',
      [`gateway_node_deployments_missing{${AT},engine="default",node="http://b"}`]: '0x80',
    },
    atMinute: 32.5,
    labels: { ...ENGINE_AT_LABELS, node: 'http://a' },
    quiet: {
      [`gateway_node_deployments_missing{${AT},engine="default",node="http://a"}`]: '0x4 1x58 0x40',
    },
  },
  GatewayVersionSkew: {
    fires: {
      [`gateway_info{${AT},version="1"}`]: '1x80',
      'gateway_info{job="gw",instance="b:9090",version="2"}': '1x80',
    },
    atMinute: 30,
    labels: JOB_LABELS,
    quiet: {
      [`gateway_info{${AT},version="1"}`]: '1x80',
      'gateway_info{job="gw",instance="b:9090",version="1"}': '1x80',
      'gateway_info{job="other",instance="c:9090",version="2"}': '1x80',
    },
  },
  GatewayWorkerRestarts: {
    fires: { [`gateway_worker_restarts_total{${AT},reason="exit"}`]: '0x30 1x4 2x4 3x4 4x20' },
    atMinute: 23,
    labels: AT_LABELS,
    quiet: {
      [`gateway_worker_restarts_total{${AT},reason="exit"}`]: '0x30 1x4 2x60',
      [`gateway_worker_restarts_total{${AT},reason="signal"}`]: '0x80',
    },
  },
}
