import { isSnapshot, type Snapshot } from '../metrics/aggregate.ts'
import { isAuditEvent } from '../metrics/audit-events.ts'
import type { JsonResponse, Readiness } from '../metrics/admin-listener.ts'
import { isRecord } from '../request/value.ts'
import { DEFAULT_ENGINE } from '../pipeline/locate-request.ts'
import { isProcessStatus, type ProcessStatus } from '../status/process-status.ts'
import { drainInProcess, isDrainReport, type DrainReport } from './drain-nodes.ts'
import { purgeCache, type PurgeResult } from './purge-cache.ts'
import { type ComparisonReports, comparisonReportsOf, isComparisonReports } from './comparison-reports.ts'
import { changeShift, type ShiftResult } from './change-shift.ts'
import { followShifts, isKnownShifts, type KnownShifts } from './known-shifts.ts'
import type { ServingProcess } from './serving.ts'

/**
 * A question to the processes that serve requests. It is declared here only: the message to a worker, the worker's answer and the
 * timeout follow from the declaration. A route of the admin listener asks it with `ServingProcesses`.
 */
export interface ProcessQuestion<Answer> {
  /** Identifies the question in messages to workers. */
  readonly name: string
  /** How long the primary waits for the answer of a worker. */
  readonly withinMs: number
  /** Returns the answer of one process. `parameters` come from the client of the admin listener, so they are not checked yet. */
  readonly answer: (serving: ServingProcess, parameters: unknown) => Answer | Promise<Answer>
  /** Returns whether a value has the form of an answer. The value comes from another process. */
  readonly isAnswer: (value: unknown) => value is Answer
}

/** The processes that serve requests: this process, or all workers. */
export interface ServingProcesses {
  /** Asks each process, and returns the answers that arrive in time. The caller combines them. */
  askEach<Answer>(question: ProcessQuestion<Answer>, parameters?: unknown): Promise<readonly Answer[]>
  /**
   * Asks one process, because all of them give the same answer. Returns null if no process answers.
   * @throws Error if the process that was asked fails or does not answer in time
   */
  askOne<Answer>(question: ProcessQuestion<Answer>, parameters?: unknown): Promise<Answer | null>
  /** The configured number of processes. */
  readonly configured: number
}

export const METRICS: ProcessQuestion<Snapshot> = {
  name: 'metrics',
  withinMs: 2000,
  answer: (serving) => serving.current().gateway.metrics.snapshot(),
  isAnswer: isSnapshot,
}

export const READINESS: ProcessQuestion<Readiness> = {
  name: 'readiness',
  // A probe waits for one second. If a worker does not answer within this shorter time, its last report is used.
  withinMs: 500,
  answer: (serving) => serving.readiness(),
  isAnswer: isReadiness,
}

export const STATUS: ProcessQuestion<ProcessStatus> = {
  name: 'status',
  withinMs: 2000,
  answer: (serving) => serving.status(),
  isAnswer: isProcessStatus,
}

/** May a user send a request? The parameters are the question of the client. */
export const EXPLAIN: ProcessQuestion<JsonResponse> = {
  name: 'explain',
  // The process may need lookups at an engine for its answer.
  withinMs: 30_000,
  answer: (serving, question) => serving.explain(question),
  isAnswer: isJsonResponse,
}

/** Reopens the audit file. A process that does not answer in time finds the new file with its own periodic check. */
export const REOPEN_AUDIT: ProcessQuestion<unknown> = {
  name: 'reopenAudit',
  withinMs: 2000,
  answer: (serving) => serving.reopenAudit(),
  isAnswer: (_value): _value is unknown => true,
}

/** Writes an event to the audit stream of one process. The parameter is the event. */
export const AUDIT_EVENT: ProcessQuestion<boolean> = {
  name: 'auditEvent',
  withinMs: 2000,
  answer: (serving, event) => {
    if (!isAuditEvent(event)) return false
    serving.current().questions.audit(event)
    return true
  },
  isAnswer: (value): value is boolean => typeof value === 'boolean',
}

/** Tells a process whether the lines that it sends to the primary can be written. The parameter is true if they can. */
export const LOG_READER: ProcessQuestion<boolean> = {
  name: 'logReader',
  withinMs: 500,
  answer: (serving, isWritable) => {
    serving.setLogReader(isWritable === true)
    return true
  },
  isAnswer: (value): value is boolean => typeof value === 'boolean',
}

/** Removes cached responses. The parameters are the selection of the client. */
export const PURGE: ProcessQuestion<PurgeResult> = {
  name: 'purge',
  withinMs: 5000,
  answer: (serving, selection) => purgeCache(serving.current().gateway, selection),
  isAnswer: isPurgeResult,
}

/** Changes or reports the distribution between two groups of nodes in one process. The parameters are the change that the client requests. */
export const SHIFT: ProcessQuestion<ShiftResult> = {
  name: 'shift',
  withinMs: 2000,
  answer: (serving, change) => changeShift(serving.current().gateway, change),
  isAnswer: isShiftResult,
}

/** The shares of two groups of nodes, also those that have returned. The parameters are those of other processes, which the process follows. */
export const SHARES: ProcessQuestion<KnownShifts> = {
  name: 'shares',
  withinMs: 800,
  answer: (serving, known) => followShifts(serving.current().gateway.engines, known),
  isAnswer: isKnownShifts,
}

/** The results of comparing the responses of two groups of nodes, by engine. */
export const COMPARED: ProcessQuestion<ComparisonReports> = {
  name: 'compared',
  withinMs: 2000,
  answer: (serving) => comparisonReportsOf(serving.current().gateway.engines),
  isAnswer: isComparisonReports,
}

/** The page about the API of one engine. The parameter is the name of the engine. Null if the API is not described, or there is no such engine. */
export const API_PAGE: ProcessQuestion<string | null> = {
  name: 'apiPage',
  withinMs: 5000,
  answer: async (serving, engine) => {
    const { engines, apiDocuments } = serving.current().gateway
    if (apiDocuments === null || typeof engine !== 'string' || !engines.has(engine)) return null
    const described = { engine, isEngineNamed: engine !== DEFAULT_ENGINE, ...apiDocuments.allOf(engine) }
    return (await apiDocuments.page(described)).body.toString()
  },
  isAnswer: (value): value is string | null => value === null || typeof value === 'string',
}

/** Drains nodes of engines. The parameters are all drained nodes, so that the answer does not depend on earlier questions. */
export const DRAIN: ProcessQuestion<DrainReport> = {
  name: 'drainNodes',
  withinMs: 5000,
  answer: drainInProcess,
  isAnswer: isDrainReport,
}

const ALL = [
  METRICS,
  READINESS,
  STATUS,
  EXPLAIN,
  REOPEN_AUDIT,
  AUDIT_EVENT,
  LOG_READER,
  PURGE,
  SHIFT,
  COMPARED,
  API_PAGE,
  DRAIN,
  SHARES,
]

const QUESTIONS: ReadonlyMap<string, ProcessQuestion<unknown>> = new Map(
  ALL.map((question) => [question.name, question]),
)

/** Returns the question with this name. Null if no question has it. */
export function questionNamed(name: string): ProcessQuestion<unknown> | null {
  return QUESTIONS.get(name) ?? null
}

/** Returns this process as the only one that serves. */
export function onlyProcess(serving: ServingProcess): ServingProcesses {
  return {
    askEach: async (question, parameters) => [await question.answer(serving, parameters)],
    askOne: async (question, parameters) => question.answer(serving, parameters),
    configured: 1,
  }
}

function isReadiness(value: unknown): value is Readiness {
  if (!isRecord(value) || typeof value['ready'] !== 'boolean' || !isRecord(value['checks'])) return false
  return Object.values(value['checks']).every((state) => typeof state === 'string')
}

function isPurgeResult(value: unknown): value is PurgeResult {
  if (!isRecord(value)) return false
  return typeof value['problem'] === 'string' || typeof value['evicted'] === 'number'
}

function isShiftResult(value: unknown): value is ShiftResult {
  if (!isRecord(value)) return false
  return typeof value['problem'] === 'string' || typeof value['reads'] === 'number'
}

function isJsonResponse(value: unknown): value is JsonResponse {
  return isRecord(value) && typeof value['status'] === 'number' && 'value' in value
}
