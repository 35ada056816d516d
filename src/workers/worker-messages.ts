import type { Config } from '../config/config.ts'
import type { JsonAnswer, Readiness } from '../metrics/admin-listener.ts'
import { isRecord } from '../request/value.ts'

/** The topics of the primary's calls to a worker. With `connection`, the worker serves the connection that is sent with the message. */
export type WorkerTopic =
  | 'metrics'
  | 'readiness'
  | 'status'
  | 'explain'
  | 'replace'
  | 'reopenAudit'
  | 'connection'

export type ToWorker =
  | { readonly type: 'begin'; readonly config: Config }
  | Ask
  | { readonly type: 'drain' }
  /** No more connections follow. */
  | { readonly type: 'last-connection' }

export interface Ask {
  readonly type: 'ask'
  readonly id: number
  readonly topic: WorkerTopic
  readonly value: unknown
}

export type ToPrimary =
  /** The worker can receive messages. */
  | { readonly type: 'up' }
  /** The worker serves the connections that it receives. */
  | { readonly type: 'listening' }
  /** The worker drains, and waits for `last-connection`. */
  | { readonly type: 'leaving' }
  | WorkerAnswer

export type WorkerAnswer =
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly problem: string }

/** Parses a message to a worker. Returns null for a message of another sender, because the channel is shared. */
export function readToWorker(message: unknown): ToWorker | null {
  if (!isRecord(message)) return null
  const { type, config, id, topic, value } = message
  if (type === 'drain' || type === 'last-connection') return { type }
  if (type === 'begin' && isConfig(config)) return { type, config }
  if (type === 'ask' && typeof id === 'number' && isTopic(topic)) return { type, id, topic, value }
  return null
}

/** Parses a message to the primary. Returns null for a message of another sender. */
export function readToPrimary(message: unknown): ToPrimary | null {
  if (!isRecord(message)) return null
  const { type, id, value, problem } = message
  if (type === 'up' || type === 'listening' || type === 'leaving') return { type }
  if (type === 'answer' && typeof id === 'number') return { type, id, value }
  if (type === 'failure' && typeof id === 'number' && typeof problem === 'string')
    return { type, id, problem }
  return null
}

const TOPICS: ReadonlySet<unknown> = new Set<WorkerTopic>([
  'metrics',
  'readiness',
  'status',
  'explain',
  'replace',
  'reopenAudit',
  'connection',
])

function isTopic(value: unknown): value is WorkerTopic {
  return TOPICS.has(value)
}

/** Returns whether a value is a configuration. Checks only a few members, because the primary has validated it. */
export function isConfig(value: unknown): value is Config {
  return isRecord(value) && value['version'] === 1 && isRecord(value['engines']) && isRecord(value['listen'])
}

/** Returns whether a value is a readiness report. */
export function isReadiness(value: unknown): value is Readiness {
  if (!isRecord(value) || typeof value['ready'] !== 'boolean' || !isRecord(value['checks'])) return false
  return Object.values(value['checks']).every((state) => typeof state === 'string')
}

/** Returns the problems that a worker found in a replacement configuration. With no problems, the configuration is in force. */
export function problemsIn(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  return ['(the gateway): a worker sent a response that cannot be read']
}

/** Returns whether a value is a response for the admin listener. */
export function isJsonAnswer(value: unknown): value is JsonAnswer {
  return isRecord(value) && typeof value['status'] === 'number' && 'value' in value
}
