import { pathText } from '../../operations/published/declared-names.ts'
import { operatorText } from '../../errors.ts'
import type { DateFormat } from '../../request/date-format.ts'
import { isRecord, stringIn } from '../../request/value.ts'
import { invalidResponse } from '../../request/engine-request.ts'

/** A number about an engine. */
export interface GaugeSample {
  readonly gauge: GaugeName
  /** The value of the gauge's own label; `''` if the gauge has no label. */
  readonly label: string
  readonly value: number
}

interface Gauge {
  readonly name: `camunda_${string}`
  readonly help: string
  /** The label in addition to `engine`. Null if the gauge has no other label. */
  readonly label: string | null
}

/** The gauges. Their names follow the exporters that are in use for these engines. */
export const GAUGES = [
  { name: 'camunda_incidents_open', help: 'Number of open incidents, by type.', label: 'incident_type' },
  { name: 'camunda_jobs_out_of_retries', help: 'Number of jobs without retries left.', label: null },
  {
    name: 'camunda_jobs_executable',
    help: 'Number of jobs that are due and have retries left.',
    label: null,
  },
  {
    name: 'camunda_external_tasks_waiting',
    help: 'Number of external tasks that a worker could fetch now, by topic.',
    label: 'topic',
  },
  {
    name: 'camunda_external_tasks_oldest_timestamp_seconds',
    help: 'Creation time of the oldest external task that a worker could fetch now, by topic.',
    label: 'topic',
  },
  {
    name: 'camunda_process_instances_running',
    help: 'Number of running process instances, by process definition key.',
    label: 'process_definition_key',
  },
  { name: 'camunda_user_tasks_open', help: 'Number of user tasks that are not completed.', label: null },
  {
    name: 'camunda_user_tasks_unassigned',
    help: 'Number of open user tasks without an assignee.',
    label: null,
  },
  {
    name: 'camunda_user_tasks_overdue',
    help: 'Number of open user tasks whose due date has passed.',
    label: null,
  },
  {
    name: 'camunda_last_deployment_timestamp_seconds',
    help: 'Time of the last deployment.',
    label: null,
  },
] as const satisfies readonly Gauge[]

export type GaugeName = (typeof GAUGES)[number]['name']

/** Maximum number of series of an engine. All others are combined in one series, `_other`. */
export interface GaugeBounds {
  readonly topics: number
  readonly definitions: number
}

/** Bounds of the samples, the date format of the engine, and the clock. */
export interface GaugeReading extends GaugeBounds {
  readonly dateFormat: DateFormat
  /** Milliseconds since 1970, as `Date.now`. */
  readonly wallNow: () => number
}

/**
 * Requests JSON from the engine, by a path below its base path. Resolves with null if the engine does not support the request
 * (400).
 */
export type ReadJson = (path: string) => Promise<unknown>

/** Numbers that belong together. If one of the requests fails, all of them keep their previous values. */
export interface GaugeQuery {
  /** The name in the log and in the count of failures. */
  readonly name: string
  readonly read: (ask: ReadJson, reading: GaugeReading) => Promise<readonly GaugeSample[]>
}

const OTHER = '_other'
/** Maximum length of a label. Names come from deployed models. */
const MAX_LABEL_CHARS = 128

export const GAUGE_QUERIES: readonly GaugeQuery[] = [
  { name: 'incidents', read: readIncidents },
  {
    name: 'jobs-out-of-retries',
    read: async (ask) => [
      plain('camunda_jobs_out_of_retries', await count(ask, '/job', 'noRetriesLeft=true')),
    ],
  },
  {
    name: 'jobs-executable',
    read: async (ask) => [plain('camunda_jobs_executable', await count(ask, '/job', 'executable=true'))],
  },
  { name: 'external-tasks', read: readExternalTasks },
  { name: 'process-instances', read: readProcessInstances },
  {
    name: 'user-tasks-open',
    read: async (ask) => [plain('camunda_user_tasks_open', await count(ask, '/task', ''))],
  },
  {
    name: 'user-tasks-unassigned',
    read: async (ask) => [
      plain('camunda_user_tasks_unassigned', await count(ask, '/task', 'unassigned=true')),
    ],
  },
  { name: 'user-tasks-overdue', read: readOverdueTasks },
  { name: 'deployments', read: readLastDeployment },
]

/** The incident types of every engine. Applications may add their own types, which no request lists. */
const INCIDENT_TYPES = ['failedJob', 'failedExternalTask'] as const

async function readIncidents(ask: ReadJson): Promise<readonly GaugeSample[]> {
  const known: GaugeSample[] = []
  for (const type of INCIDENT_TYPES) {
    const value = await count(ask, '/incident', `incidentType=${type}`)
    known.push({ gauge: 'camunda_incidents_open', label: type, value })
  }
  return withOther('camunda_incidents_open', known, await count(ask, '/incident', ''))
}

/** Selects tasks that are not locked or whose lock has expired, that have retries left, and that are not suspended. */
const WAITING = 'notLocked=true&withRetriesLeft=true&active=true'

async function readExternalTasks(ask: ReadJson, reading: GaugeReading): Promise<readonly GaugeSample[]> {
  const topics = listOf(await ask('/external-task/topic-names')).filter((name) => typeof name === 'string')
  const { topics: bound } = reading
  const named = topics.filter((name) => name.length <= MAX_LABEL_CHARS).sort()
  const shown = named.slice(0, bound)
  const waiting: GaugeSample[] = []
  const oldest: GaugeSample[] = []
  for (const label of shown) {
    const query = `topicName=${encodeURIComponent(label)}&${WAITING}`
    const value = await count(ask, '/external-task', query)
    waiting.push({ gauge: 'camunda_external_tasks_waiting', label, value })
    const seconds = value === 0 ? null : await oldestOf(ask, query, reading)
    if (seconds !== null)
      oldest.push({ gauge: 'camunda_external_tasks_oldest_timestamp_seconds', label, value: seconds })
  }
  if (shown.length === topics.length) return [...waiting, ...oldest]
  const all = await count(ask, '/external-task', WAITING)
  return [...withOther('camunda_external_tasks_waiting', waiting, all), ...oldest]
}

/**
 * Returns null if the engine does not provide the time. In Operaton, the task has it. Camunda 7.22 sorts by it but does not
 * return it, so the history is queried. A history level below `full` does not have it either.
 */
async function oldestOf(ask: ReadJson, query: string, reading: GaugeReading): Promise<number | null> {
  const tasks = await ask(`/external-task?${query}&sortBy=createTime&sortOrder=asc&maxResults=1`)
  const [task] = tasks === null ? [] : listOf(tasks)
  const seconds = secondsOf(stringIn(task, 'createTime'), reading)
  const id = stringIn(task, 'id')
  if (seconds !== null || id === null) return seconds
  const log = await ask(
    `/history/external-task-log?externalTaskId=${encodeURIComponent(id)}&creationLog=true`,
  )
  const [created] = log === null ? [] : listOf(log)
  return secondsOf(stringIn(created, 'timestamp'), reading)
}

async function readProcessInstances(
  ask: ReadJson,
  { definitions: bound }: GaugeBounds,
): Promise<readonly GaugeSample[]> {
  const byKey = new Map<string, number>()
  for (const counted of listOf(await ask('/process-definition/statistics'))) {
    const definition = isRecord(counted) && isRecord(counted['definition']) ? counted['definition'] : {}
    const instances = isRecord(counted) ? counted['instances'] : null
    const { key } = definition
    if (typeof key !== 'string' || typeof instances !== 'number')
      throw invalid('/process-definition/statistics')
    const label = key.length > MAX_LABEL_CHARS ? OTHER : key
    byKey.set(label, (byKey.get(label) ?? 0) + instances)
  }
  const samples = [...byKey].map(([label, value]) => ({
    gauge: 'camunda_process_instances_running' as const,
    label,
    value,
  }))
  if (samples.length <= bound) return samples
  const total = samples.reduce((sum, { value }) => sum + value, 0)
  const largest = samples
    .filter(({ label }) => label !== OTHER)
    .sort((one, other) => other.value - one.value || (one.label < other.label ? -1 : 1))
  return withOther('camunda_process_instances_running', largest.slice(0, bound), total)
}

async function readLastDeployment(ask: ReadJson, reading: GaugeReading): Promise<readonly GaugeSample[]> {
  const [last] = listOf(await ask('/deployment?sortBy=deploymentTime&sortOrder=desc&maxResults=1'))
  const seconds = secondsOf(stringIn(last, 'deploymentTime'), reading)
  return seconds === null ? [] : [plain('camunda_last_deployment_timestamp_seconds', seconds)]
}

/** Returns no sample if the gateway cannot write the current time in the date format of the engine. */
async function readOverdueTasks(
  ask: ReadJson,
  { dateFormat, wallNow }: GaugeReading,
): Promise<readonly GaugeSample[]> {
  const now = dateFormat.format(wallNow())
  if (now === null) return []
  const value = await count(ask, '/task', `dueBefore=${encodeURIComponent(now)}`)
  return [plain('camunda_user_tasks_overdue', value)]
}

/** Adds the remainder as `_other` if it is positive. Numbers from consecutive requests may differ by the changes in between. */
function withOther(gauge: GaugeName, samples: readonly GaugeSample[], total: number): readonly GaugeSample[] {
  const rest = total - samples.reduce((sum, { value }) => sum + value, 0)
  return rest <= 0 ? samples : [...samples, { gauge, label: OTHER, value: rest }]
}

async function count(ask: ReadJson, path: string, query: string): Promise<number> {
  const response = await ask(`${path}/count${query === '' ? '' : '?'}${query}`)
  if (isRecord(response) && typeof response['count'] === 'number') return response['count']
  throw invalid(`${path}/count`)
}

function plain(gauge: GaugeName, value: number): GaugeSample {
  return { gauge, label: '', value }
}

function listOf(response: unknown): readonly unknown[] {
  if (Array.isArray(response)) return response
  throw invalidResponse(operatorText`The engine's response is not a list`)
}

function secondsOf(date: string | null, { dateFormat }: GaugeReading): number | null {
  const ms = dateFormat.toMs(date)
  return ms === null ? null : ms / 1000
}

function invalid(what: string): Error {
  return invalidResponse(
    operatorText`The engine's response to ${pathText(what)} does not have the expected members`,
  )
}
